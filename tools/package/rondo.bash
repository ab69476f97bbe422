# Completion of the rondo command for bash. It asks the command itself, and so knows what this version has.
_rondo() {
  local current=${COMP_WORDS[COMP_CWORD]} command="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -* ]] && { command=$word; break; }
  done
  local words
  if [[ -z $command ]]; then
    words=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p; s/^  \(-h,\)\{0,1\}\(--[a-z-]*\).*/\2/p')
  else
    words=$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null |
      sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p; s/^  \(-[a-z],\)\{0,1\}\(--[a-z-]*\).*/\2/p')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _rondo rondo
