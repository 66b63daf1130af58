set terminal svg size 900,420 font "sans,13" background "white"
set output picture
set title "The filter in hardware (simulated), tracking a frequency that drifts: one outcome a step"
set xlabel "measurement"
set ylabel "frequency, rad per unit of time"
set key top left
set grid lc rgb "#dddddd"
plot data using 1:($3-2*$4):($3+2*$4) with filledcurves lc rgb "#c8daf0" title "95 % interval", \
     data using 1:3 with lines lc rgb "#1f5fa8" lw 1.5 title "hardware", \
     data using 1:2 with lines lc rgb "#c0392b" lw 1.5 title "truth"
