"""The content security policy of pages that are one file."""
import base64, hashlib, html, re


def check(text):
    """Checks that the policy comes before everything it applies to, and has the hash of every style and script of the page, and no
    other. Returns it."""
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    policy = html.unescape(policy)
    assert text.index("Content-Security-Policy") < min(text.index(tag) for tag in ("<style", "<title"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'", rules
    for name, element in (("style-src", "<style>(.*?)</style>"), ("script-src", "<script>(.*?)</script>")):
        hashes = ["'sha256-" + base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode() + "'" for inside in re.findall(element, text, re.S)]
        assert rules.get(name, "").split() == hashes, f"{name} is {rules.get(name)}; it should be {' '.join(hashes)}"
    assert re.findall("<script[^>]*>", text) in ([], ['<script type="application/json" id="data">', "<script>"]), "another script"
    assert not re.search(r"<[^>]*\s(style|on[a-z]+)=", text), "an attribute that the policy forbids"
    return rules
