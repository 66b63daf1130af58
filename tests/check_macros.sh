#!/bin/sh
# Files of a program that were compiled with different macros do not link; with the same ones they do. C and C++:
# check_macros.sh SOURCE_DIR
set -u
source=${1:?usage: check_macros.sh SOURCE_DIR}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc=${CC:-cc} cxx=${CXX:-c++}
failed=0

# user NAME INCLUDE EXPRESSION: a program that uses the interface
user() {
    printf '#include "%s"\n%s\n' "$2" "$3" >"$folder/$1.c"
    cp "$folder/$1.c" "$folder/$1.cpp"
}
user core rejfilt/rejfilt.h 'int main(void)
{ RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)]; rf32_filter *f; return rf32_filter_init(&f, memory, sizeof memory, 1, 1); }'
user gaussians rejfilt/gaussians.h 'int main(void) { rf32_gaussians g; return rf32_gaussians_init(&g, 0, 1) + (rf32_gaussians_sd(&g) < 0); }'
user fixed fixed.h 'int main(void) { rfi_filter f; rfi_init(&f, 0, 1000, 1); rfi_diffuse(&f, 1); return 0; }'
user decay decay.h 'int main(void) { rfi_filter f; rfi_decay_init(&f, 0, 1000, 1); rfi_decay_diffuse(&f, 1); return 0; }'

includes="-I$source/include -I$source/src/fixed -I$source/src"
core="$source/src/core/rejfilt32.c $source/src/core/status.c"
while read -r name code macros; do
    case $code in core) files=$core ;; *) files=$source/src/$code ;; esac
    set -- '' $macros
    for theirs in "$@"; do
        t=$(echo "$theirs" | tr + ' ')
        rm -f "$folder"/*.o
        for file in $files; do
            # shellcheck disable=SC2086 # they are words
            $cc -O1 -fno-math-errno -std=c11 $includes $t -c "$file" -o "$folder/$(basename "$file").o" || exit 1
        done
        for ours in "$@"; do
            o=$(echo "$ours" | tr + ' ')
            for compiler in "$cc -std=c11" "$cxx -std=c++17"; do
                case $compiler in *c++17) ending=cpp ;; *) ending=c ;; esac
                # shellcheck disable=SC2086 # they are words
                $compiler -O1 $includes $o -c "$folder/$name.$ending" -o "$folder/main.o" || exit 1
                # shellcheck disable=SC2086 # they are words
                $compiler "$folder"/*.o -o "$folder/program" 2>"$folder/log"
                links=$?
                if [ "$t" = "$o" ] && { [ $links != 0 ] || ! "$folder/program"; }; then
                    cat "$folder/log"
                    echo "failed: $name with '$o' on both sides does not link and run ($compiler)"
                    failed=1
                elif [ "$t" != "$o" ] && { [ $links = 0 ] || ! grep -qi "undefined" "$folder/log"; }; then
                    echo "failed: $name with '$o' links with code compiled with '$t' ($compiler)"
                    failed=1
                fi
            done
        done
    done
done <<END
core core -DRF_DIM_MAX=1 -DRF_DIM_MAX=2 -DRF_NO_LATTICE -DRF_DIM_MAX=1+-DRF_NO_LATTICE
gaussians chip/gaussians.c -DRF_GAUSSIANS_MAX=1 -DRF_GAUSSIANS_MAX=4
fixed fixed/fixed.c -DRFI_WITH_PGH=0 -DRFI_WITH_HOME=0 -DRFI_WITH_EVIDENCE=0 -DRFI_WITH_HOME=0+-DRFI_WITH_EVIDENCE=0
decay fixed/decay.c -DRFI_WITH_HOME=0 -DRFI_WITH_EVIDENCE=0
END
[ $failed = 0 ] && echo "different macros do not link; equal ones do"
exit $failed
