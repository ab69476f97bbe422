# cmake -DPROGRAM=rondo -DOUT=rondo.1 -DVERSION=0.1.0 -P man_page.cmake: a man page of what the command says of itself.

# Text as lines that man shows as they are.
function(as_lines text out)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${out} ".nf\n${text}\n.fi\n" PARENT_SCOPE)
endfunction()

function(help_of out)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} --help ends with ${status}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# The names under "Subcommands:" of a help text; none where it has no such part.
function(subcommands_in help out)
  string(REGEX MATCH "\nSubcommands:(\n  [^\n]*)+" part "${help}")
  string(REGEX MATCHALL "\n  [a-z][a-z-]* " names "${part}")
  string(REGEX REPLACE "[\n ]" "" names "${names}")
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# A section for each subcommand in the help text of the command whose words are ARGN, and for theirs.
function(append_subcommands help)
  subcommands_in("${help}" names)
  foreach(name IN LISTS names)
    set(path ${ARGN} ${name})
    help_of(text ${path})
    as_lines("${text}" lines)
    string(REPLACE ";" " " title "${path}")
    string(TOUPPER "${title}" title)
    string(APPEND page ".SH ${title}\n${lines}")
    append_subcommands("${text}" ${path})
  endforeach()
  set(page "${page}" PARENT_SCOPE)
endfunction()

help_of(help)
as_lines("${help}" lines)
set(page ".TH RONDO 1 \"\" \"rondo ${VERSION}\"\n.SH NAME\nrondo \\- compile recurrent cells into tuned GPU kernels\n")
string(APPEND page ".SH SYNOPSIS\n.B rondo\n.I command\n[\n.I options\n]\n.SH DESCRIPTION\n${lines}")
append_subcommands("${help}")
file(WRITE ${OUT}.new "${page}")
file(RENAME ${OUT}.new ${OUT})
