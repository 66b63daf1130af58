# bash completion of rejfilt: commands, options and models, as the command itself lists them
_rejfilt() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} program=${COMP_WORDS[0]}
    local words part=
    COMPREPLY=()
    if [ "$COMP_CWORD" -gt 1 ]; then # the usage of a command may name parts of it: "[fit | predict]", "show FILE | export FILE"
        words=$("$program" "$command" --help 2>/dev/null | sed -n '1s/^usage: rejfilt [a-z]* //p' | grep -oE '(^|\[|\| )[a-z]+' | tr -cd 'a-z\n')
        [ "$COMP_CWORD" -eq 2 ] || part=$(grep -xF -- "${COMP_WORDS[2]}" <<<"$words")
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=$("$program" --help 2>/dev/null | sed -nE 's/^  (--[a-z]+|[a-z]+) {2,}.*/\1/p')
    elif [ "$before" = --model ]; then
        words=$("$program" models 2>/dev/null | sed -nE 's/^([a-z_0-9]+): .*/\1/p')
    elif [ "${word#-}" != "$word" ]; then
        words=$({ "$program" "$command" $part --help; [ "$part" != import ] || "$program" track --help; } 2>/dev/null | sed -nE 's/^  (--[a-z0-9-]+).*/\1/p' | sort -u)
    elif [ "$COMP_CWORD" -gt 2 ]; then
        words=
    fi
    # without a match the shell completes file names
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _rejfilt rejfilt
