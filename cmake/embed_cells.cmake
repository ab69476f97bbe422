# Writes a C++ table of the shipped cell files: name, text. Called by rondo_embed_cells.
set(text "#include \"runtime/commands/cell_library.h\"\n\nnamespace rondo::runtime {\n\nconst std::vector<EmbeddedCell>& embedded_cells() {\n  static const std::vector<EmbeddedCell> cells = {\n")
foreach(cell IN LISTS CELLS)
  get_filename_component(name ${cell} NAME_WE)
  file(READ ${cell} body)
  string(APPEND text "      {\"${name}\", R\"cell(${body})cell\"},\n")
endforeach()
string(APPEND text "  };\n  return cells;\n}\n\n}  // namespace rondo::runtime\n")
file(WRITE ${OUT} "${text}")
