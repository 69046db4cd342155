# A command with several processes, some of which end badly; it returns 0.
./steps good
./steps bad
./steps bad
./steps killed
./steps forks
exit 0
