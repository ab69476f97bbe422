# Completion of the rondo command for bash. It asks the command itself, and so knows what this version has.

# The subcommands in a help text, one a line; of its options the long names.
_rondo_commands() { sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'; }
_rondo_options() { sed -n 's/^  \(-[a-z],\)\{0,1\}\(--[a-z-]*\).*/\2/p'; }

_rondo() {
  local current=${COMP_WORDS[COMP_CWORD]} path=("${COMP_WORDS[0]}") help commands word
  help=$("${path[@]}" --help 2>/dev/null)
  # Words are followed as far as they are subcommands; what comes then is a cell, a file or an option's value.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    commands=$(_rondo_commands <<<"$help")
    [[ -z $commands ]] && break
    grep -qxF -e "$word" <<<"$commands" || return
    path+=("$word")
    help=$("${path[@]}" --help 2>/dev/null)
  done
  mapfile -t COMPREPLY < <(compgen -W "$(_rondo_commands <<<"$help"; _rondo_options <<<"$help")" -- "$current")
}
complete -o default -F _rondo rondo
