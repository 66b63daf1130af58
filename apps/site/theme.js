// Before anything is painted: the colours that were chosen here, or those of the system.
{
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = () => { try { return localStorage.getItem('theme'); } catch { return null; } };
  const apply = () => { document.documentElement.dataset.theme = chosen() || (system.matches ? 'dark' : 'light'); };
  apply();
  system.addEventListener('change', () => { apply(); dispatchEvent(new Event('themechange')); });
}
