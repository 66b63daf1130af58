#compdef rejfilt
# zsh completion of rejfilt: commands, options and models, as the command itself lists them
local program=$words[1] command=$words[2] before=$words[CURRENT-1] word=$words[CURRENT]
local -a found parts
local part=
if (( CURRENT > 2 )); then # the usage of a command may name parts of it: "[fit | predict]", "show FILE | export FILE"
    parts=(${(f)"$($program $command --help 2>/dev/null | sed -n '1s/^usage: rejfilt [a-z]* //p' | grep -oE '(^|\[|\| )[a-z]+' | tr -cd 'a-z\n')"})
    (( CURRENT == 3 )) || part=${parts[(r)$words[3]]}
fi
if (( CURRENT == 2 )); then
    found=(${(f)"$($program --help 2>/dev/null | sed -nE 's/^  (--[a-z]+|[a-z]+) {2,}(.*)/\1:\2/p')"})
    _describe command found
elif [[ $before == --model ]]; then
    found=(${(f)"$($program models 2>/dev/null | sed -nE 's/^([a-z_0-9]+): (.*)/\1:\2/p')"})
    _describe model found
    _files -g '*.c'
elif [[ $word == -* ]]; then
    found=(${(f)"$({ $program $command $part --help; [[ $part != import ]] || $program track --help } 2>/dev/null | sed -nE 's/^  (--[a-z0-9-]+)( [^ ]+)? *(.*)/\1:\3/p')"})
    _describe option found
else
    (( CURRENT == 3 && $#parts )) && _describe part parts
    _files
fi
