"""What plants and finds faults in kernels: the arguments of `rondo verify`, by a case's name, and what a fault is."""
ROWS = "tests/mutation/cells/rows.cell"
DRAWS = "tests/mutation/cells/draws.cell"
HEADS = "tests/schedule/stream/cells/heads.cell"
TYPES = ["bf16", "fp16", "fp32"]
STREAM = "--strategy stream "
NUMBERS = "tests/mutation/cells/numbers.cell --shape B=3,T=19,H=2,D=40 "
OVER_HEAD = "tests/mutation/cells/over_head.cell"
SUMS = "tests/mutation/cells/sums.cell"
AHEAD = "tests/mutation/cells/ahead.cell"
ALONG = "tests/mutation/cells/along.cell"
INPUTS = "tests/mutation/cells/inputs.cell "
LAYER = "tests/mutation/cells/layer.cell "
EXTENTS = "tests/mutation/cells/extents.cell "
WIDE = EXTENTS.replace("extents.cell", "wide.cell") + "--const P=13 --shape B=3,T=21,D=24,H=2 "
MEMORY = "tests/mutation/cells/memory.cell --shape B=3,T=19,D=24,H=2 "
OF_EXTENT = EXTENTS + "--const E=40 --shape B=3,T=21,D=24,H=2 "
PLAIN = STREAM + ("--param segments=1 --param channels=16 --param unroll=4 --param rewrite=none "
                  "--param interleaved_copies=0 --param producer_warps=0 ")
SPLIT = STREAM + "--param segments=4 --param channels=64 --param steps=32 --param time_split=2 --param stages=2 "
KEPT = "--strategy persistent "
IN_TURN = KEPT + ("--param exchange=global --param reduce_scatter=0 --param blocks=4 --param split_k=2 "
                  "--param unit_blocks=1 --param batch_tiles=1 --param tiles_in_turn=2 --param steps=2 ")
FRAGMENTS = KEPT + ("--param exchange=global --param reduce_scatter=0 --param gather_fragments=1 --param split_k=2 "
                    "--param unit_blocks=1 --param steps=2 ")
TURNS = "--strategy alternating "
SHOT = "--strategy shoot --param newton=1 --param warmup=0 "

CASES = {
    "plain fw": "mingru --shape B=3,T=41,D=40 --pass fw --param steps=8 --param stages=2 " + PLAIN,
    "plain bw": "mingru --shape B=3,T=41,D=40 --pass bw --param steps=8 --param stages=2 " + PLAIN,
    "plain heads": "mingru --shape B=2,T=20,D=40,H=2 --pass fw --param steps=8 --param stages=2 " + PLAIN,
    "plain params": "hgrn --shape B=3,T=41,D=40 --pass bw --param steps=8 --param stages=2 " + PLAIN,
    "folded": "hgrn --shape B=3,T=41,D=40 --pass fw --math fast --param rewrite=throughput --param segments=1 "
              "--param steps=8 --param stages=2 --param channels=16 --param unroll=4 " + STREAM,
    "bursts": "mingru --shape B=2,T=70,D=48 --pass fw --param segments=1 --param channels=16 --param steps=16 "
              "--param interleaved_copies=1 --param stages=3 --param unroll=4 " + STREAM,
    "producers": "mingru --shape B=2,T=70,D=40 --pass fw --param segments=1 --param channels=16 --param steps=8 "
                 "--param producer_warps=1 --param stages=3 --param unroll=4 " + STREAM,
    "segments fw": "mingru --shape B=2,T=77,D=40 --pass fw --param segments=4 --param steps=16 --param channels=16 "
                   "--param stages=2 --param time_split=1 " + STREAM,
    "segments params": "hgrn --shape B=2,T=77,D=40 --pass bw --param segments=4 --param steps=16 --param channels=16 "
                       "--param stages=2 --param time_split=1 " + STREAM,
    "segments shifted": ROWS + " --cell shifted --shape B=2,T=77,D=40 --pass fw --param segments=4 --param steps=16 "
                        "--param channels=16 --param stages=2 --param time_split=1 " + STREAM,
    "cluster fw": "hgrn --shape B=2,T=70,D=64 --pass fw --param exchange=cluster --param pipeline_depth=1 " + SPLIT,
    "cluster bw": "hgrn --shape B=2,T=70,D=64 --pass bw --param exchange=cluster --param pipeline_depth=1 " + SPLIT,
    "cluster of 32 segments": "affine --shape B=2,T=300,D=16 --pass fw --param segments=32 --param channels=16 "
                              "--param steps=128 --param time_split=2 --param exchange=cluster "
                              "--param pipeline_depth=1 --param stages=2 " + STREAM,
    "pipelined": "hgrn --shape B=2,T=70,D=64 --pass fw --param exchange=cluster --param pipeline_depth=2 " + SPLIT,
    "global": "hgrn --shape B=2,T=70,D=64,H=2 --pass fw --param exchange=global --param pipeline_depth=1 " + SPLIT,
    "rows fw": ROWS + " --cell rows --shape B=2,T=41,D=24 --pass fw --param steps=8 --param stages=2 " + STREAM +
               "--param segments=1 --param channels=8 --param unroll=4",
    "rows bw": ROWS + " --cell rows --shape B=2,T=41,D=24 --pass bw --param steps=8 --param stages=2 " + STREAM +
               "--param segments=1 --param channels=8 --param unroll=4",
    "rows in segments": ROWS + " --cell rows --shape B=2,T=41,D=24 --pass fw --param segments=4 --param channels=8 "
                        "--param steps=16 --param stages=2 " + STREAM,
    "rows of 160 channels": ROWS + " --cell rows --shape B=2,T=9,D=160 --pass bw --param segments=1 "
                            "--param channels=16 --param steps=8 --param stages=2 " + STREAM,
    "residual": ROWS + " --cell residual --shape B=2,T=41,D=24 --pass fw --math fast --param rewrite=latency "
                "--param steps=8 --param stages=2 --param unroll=4 --param channels=8 " + STREAM,
    "draws bw": DRAWS + " --shape B=3,T=41,D=40,H=2 --pass bw --param steps=8 --param stages=2 " + PLAIN,
    "draws in segments": DRAWS + " --shape B=2,T=77,D=40 --pass bw --param segments=4 --param steps=16 "
                         "--param channels=16 --param stages=2 --param time_split=1 " + STREAM,
    "draws shoot": DRAWS + " --shape B=2,T=300,D=40,H=2 --pass fw --param segments=8 --param time_split=2 "
                   "--param exchange=cluster " + SHOT,
    "draws dense bw": "zoneout --shape B=9,T=20,D=24 --pass bw --param blocks=1 --param batch_tiles=1 --param steps=2 " +
                      KEPT,
    "draws in turns bw": "zoneout --shape B=9,T=20,D=24 --pass bw --param units=8 --param stages=2 --param warps=2 " +
                         TURNS,
    "shoot": "paragru --shape B=2,T=1200,D=40,H=2 --pass fw --param segments=8 --param time_split=2 "
             "--param exchange=cluster " + SHOT,
    "shoot in a block": "paralstm --shape B=2,T=1100,D=40 --pass fws --param segments=16 --param time_split=1 " + SHOT,
    "shoot by launches": "paralstm --shape B=2,T=8000,D=33 --pass fws --param segments=8 --param time_split=2 "
                         "--param exchange=launch " + SHOT,
    "shoot kept in registers": DRAWS + " --shape B=2,T=500,D=40 --pass fw --param segments=4 --param time_split=4 "
                               "--param exchange=cluster --param keep_inputs=registers " + SHOT,
    "one block fw": "lstm --shape B=9,T=20,D=24 --pass fws --param blocks=1 --param batch_tiles=1 --param steps=4 "
                    "--param stages=3 " + KEPT,
    "one block bw": "lstm --shape B=9,T=20,D=24 --pass bw --param blocks=1 --param batch_tiles=1 --param steps=4 "
                    "--param stages=3 " + KEPT,
    "batch tiles": "elman --shape B=17,T=9,D=24 --pass fw --param blocks=1 --param batch_tiles=2 --param steps=2 " +
                   KEPT,
    "team fw": "lstm --shape B=9,T=20,D=48 --pass fw --param blocks=2 --param exchange=cluster "
               "--param reduce_scatter=0 --param steps=4 " + KEPT,
    "team of the grid": "elman --shape B=2,T=9,D=48,H=2 --pass fw --param blocks=3 --param exchange=global "
                        "--param reduce_scatter=0 --param steps=4 --param batch_tiles=1 " + KEPT,
    "sums in a cluster": "gru --shape B=2,T=20,D=48 --pass bw --param blocks=2 --param exchange=cluster "
                         "--param reduce_scatter=1 --param steps=4 " + KEPT,
    "sums in the grid": "gru --shape B=9,T=9,D=48 --pass bw --param blocks=3 --param exchange=global "
                        "--param reduce_scatter=1 --param batch_tiles=2 --param steps=2 " + KEPT,
    "fragments": "lstm --shape B=11,T=9,D=128 --pass fws --param blocks=8 --param batch_tiles=1 " + FRAGMENTS,
    "fragments of batch tiles": "gru --shape B=17,T=5,D=128 --pass fw --param blocks=16 --param batch_tiles=2 " + FRAGMENTS,
    "fragments for long": "elman --shape B=3,T=90,D=64 --pass fw --param blocks=8 --param batch_tiles=1 " + FRAGMENTS,
    "inputs": INPUTS + "--shape B=9,T=20,D=64 --pass fw --param blocks=8 --param batch_tiles=1 " + FRAGMENTS,
    "inputs of batch tiles": INPUTS + "--shape B=17,T=9,D=64 --pass fw --param blocks=8 --param batch_tiles=2 " + FRAGMENTS,
    "hoisted fw": LAYER + "--shape B=2,T=33,D=40,H=2 --pass fw " + STREAM,
    "hoisted bw": LAYER + "--shape B=2,T=33,D=40,H=2 --pass bw " + STREAM,
    "extents fw": OF_EXTENT + "--cell dense --pass fw " + KEPT,
    "extents bw": OF_EXTENT + "--cell dense --pass bw " + KEPT,
    "extents of forms": OF_EXTENT + "--cell dense --pass bw --forms lengths,reversed " + KEPT,
    "extents of directions": OF_EXTENT + "--cell diagonal --pass fw --forms directions " + STREAM,
    "extents host fw": OF_EXTENT + "--cell dense --pass fw --arch cpu",
    "extents host bw": OF_EXTENT + "--cell dense --pass bw --arch cpu",
    "extents host of forms": OF_EXTENT + "--cell diagonal --pass bw --forms lengths --arch cpu",
    "memory fw": MEMORY + "--pass fw " + KEPT,
    "memory bw": MEMORY + "--pass bw " + KEPT,
    "memory of forms": MEMORY + "--pass bw --forms lengths,resets,reversed " + KEPT,
    "wide fw": WIDE + "--cell projected --pass fw " + KEPT,
    "wide bw": WIDE + "--cell projected --pass bw " + KEPT,
    "transposes fw": WIDE + "--cell transposed --pass fw " + KEPT,
    "transposes bw": WIDE + "--cell transposed --pass bw " + KEPT,
    "tiles in turn": "lstm --shape B=11,T=40,D=64 --pass fws " + IN_TURN,
    "tiles in turn of forms": "lstm --forms resets,lengths,reversed --shape B=11,T=9,D=64 --pass fws " + IN_TURN,
    "tiles in turn ahead": AHEAD + " --shape B=11,T=9,D=64 --pass fws " + IN_TURN,
    "tiles in turn of draws": "zoneout --shape B=11,T=9,D=64 --pass fw " + IN_TURN,
    "split sums": "elman --shape B=9,T=9,D=64 --pass fw --param blocks=2 --param split_k=4 --param exchange=cluster "
                  "--param steps=4 " + KEPT,
    "clusters in the grid": "gru --shape B=2,T=9,D=64 --pass bw --param blocks=4 --param exchange=global "
                            "--param reduce_scatter=1 --param cluster_k_split=2 --param steps=2 " + KEPT,
    "reduced by lanes": "lnlstm --shape B=9,T=5,D=64 --pass fw --param blocks=1 --param unit_blocks=1 --param steps=2 " + KEPT,
    "reduced fw": "lnlstm --shape B=9,T=9,D=28 --pass fw --param blocks=1 --param unit_blocks=1 --param steps=2 " + KEPT,
    "reduced bw": "lngru --shape B=9,T=9,D=40 --pass bw --param blocks=1 --param unit_blocks=1 --param steps=2 " + KEPT,
    "reduced in warps bw": "lngru --shape B=2,T=18,H=2,D=140 --pass bw " + KEPT,
    "one reduced in warps bw": "rmslstm --shape B=2,T=18,D=140 --pass bw " + KEPT,
    "reduced in a cluster": "lngru --shape B=3,T=9,D=32 --pass bw --param blocks=2 --param exchange=cluster "
                            "--param reduce_scatter=0 --param unit_blocks=1 --param steps=2 " + KEPT,
    "matrix in shared memory": "elman --shape B=2,T=20,D=48 --pass fw --param blocks=1 --param register_k_tiles=1 "
                               "--param steps=2 " + KEPT,
    "whole k-tiles": "elman --shape B=2,T=64,D=24 --pass bw --param blocks=1 --param steps=2 " + KEPT,
    "parts of a gradient": "elman --shape B=3,T=340,D=24 --pass bw --param blocks=1 --param steps=4 " + KEPT,
    "two levels bw": "mgu --shape B=9,T=20,D=24 --pass bw --param blocks=1 --param steps=4 " + KEPT,
    "two heads bw": "elman --shape B=2,T=20,D=24,H=2 --pass bw --param blocks=1 --param steps=4 " + KEPT,
    "pair bw": ROWS + " --cell pair --shape B=9,T=20,D=24 --pass bw " + KEPT,
    "turns fw": "mgu --shape B=9,T=20,D=40 --pass fw --param units=8 --param stages=2 --param warps=2 " + TURNS,
    "turns bw": "mgu --shape B=9,T=20,D=40 --pass bw --param units=8 --param stages=2 --param warps=2 " + TURNS,
    "turns of gates": "lstm --shape B=9,T=7,D=40 --pass fw --param units=8 --param stages=2 --param warps=2 " + TURNS,
    "turns of batch tiles": "elman --shape B=17,T=7,D=72 --pass fw --param batch_tiles=2 --param units=8 "
                            "--param stages=2 --param warps=2 " + TURNS,
    "turns of pair": ROWS + " --cell pair --shape B=9,T=20,D=24 --pass fw " + TURNS,
    "turns of norms fw": "lnlstm --shape B=9,T=5,H=2,D=40 --pass fw --param units=16 --param stages=2 --param warps=2 " +
                         TURNS,
    "turns of norms bw": "lnlstm --shape B=9,T=5,H=2,D=40 --pass bw --param units=16 --param stages=2 --param warps=2 " +
                         TURNS,
    "turns of numbers bw": OVER_HEAD + " --cell masks --shape B=9,T=5,H=2,D=40 --pass bw --param units=16 "
                           "--param stages=2 --param warps=2 " + TURNS,
    "turns of numbers fw": OVER_HEAD + " --cell masks --shape B=9,T=5,H=2,D=40 --pass fws --param units=16 "
                           "--param stages=2 --param warps=2 " + TURNS,
    "turns of a normal vector bw": OVER_HEAD + " --cell multiplies_normal --shape B=1,T=18,D=140 --pass bw "
                                   "--param units=16 --param stages=2 --param warps=2 " + TURNS,
    "kept numbers fw": OVER_HEAD + " --cell masks --shape B=9,T=9,H=2,D=36 --pass fws --param blocks=1 "
                       "--param unit_blocks=1 --param batch_tiles=1 --param steps=2 " + KEPT,
    "kept numbers bw": OVER_HEAD + " --cell masks --shape B=9,T=9,H=2,D=36 --pass bw --param blocks=1 "
                       "--param unit_blocks=1 --param batch_tiles=1 --param steps=2 " + KEPT,
    "kept numbers in a cluster": OVER_HEAD + " --cell masks --shape B=3,T=9,H=2,D=48 --pass bw --param blocks=2 "
                                 "--param exchange=cluster --param reduce_scatter=0 --param steps=2 " + KEPT,
    "host over head fw": OVER_HEAD + " --cell counted --arch cpu --shape B=3,T=5,H=2,D=40 --pass fw",
    "host over head bw": OVER_HEAD + " --cell counted --arch cpu --shape B=3,T=5,H=2,D=40 --pass bw",
    "a vector summed bw": SUMS + " --cell level --shape B=3,T=5,D=40 --pass bw --param blocks=1 --param batch_tiles=1 " + KEPT,
    "squares about a number fw": SUMS + " --cell about --shape B=2,T=5,D=40 --pass fw --param per_thread=1 " + STREAM,
    "host segments fw": "mingru --arch cpu --shape B=2,T=67,H=2,D=40 --pass fws --param vectors=1 --param segments=5",
    "host segments bw": "affine --arch cpu --shape B=2,T=67,H=2,D=40 --pass bw --param vectors=1 --param segments=5",
    "host segments of parameters": "sru --arch cpu --shape B=2,T=67,H=2,D=40 --pass bw --param vectors=1 --param segments=5",
    "along fw": ALONG + " --cell moved --shape B=2,T=9,D=72 --pass fw --param head_split=1 --param per_thread=1 "
                "--param heads=1 --param steps=4 --param stages=2 " + STREAM,
    "along bw": ALONG + " --cell moved --shape B=2,T=9,D=72 --pass bw --param head_split=1 --param per_thread=1 "
                "--param heads=1 --param steps=4 --param stages=2 " + STREAM,
    "along in a cluster": ALONG + " --cell moved --shape B=2,T=9,D=72 --pass fw --param head_split=2 --param per_thread=1 "
                          "--param steps=4 --param stages=2 " + STREAM,
    "sums along fw": ALONG + " --cell summed --shape B=2,T=9,D=72 --pass fw --param head_split=1 --param per_thread=1 "
                     "--param heads=1 --param steps=4 --param stages=2 " + STREAM,
    "sums along bw": ALONG + " --cell summed --shape B=2,T=9,D=72 --pass bw --param head_split=1 --param per_thread=1 "
                     "--param heads=1 --param steps=4 --param stages=2 " + STREAM,
    "highest along bw": ALONG + " --cell highest --shape B=2,T=5,D=300 --pass bw --param head_split=1 --param per_thread=4 "
                        "--param heads=1 --param steps=4 --param stages=2 " + STREAM,
    "turns along fw": ALONG + " --cell beside --shape B=3,T=5,H=2,D=40 --pass fw --param units=16 --param stages=2 "
                      "--param warps=2 " + TURNS,
    "turns of a shift fw": ALONG + " --cell couples --shape B=3,T=5,H=2,D=40 --pass fw --param units=16 --param stages=2 "
                           "--param warps=2 " + TURNS,
    "turns along bw": ALONG + " --cell beside --shape B=3,T=5,H=2,D=40 --pass bw --param units=16 --param stages=2 "
                      "--param warps=2 " + TURNS,
    "host along fw": ALONG + " --cell moved --arch cpu --shape B=2,T=5,H=2,D=40 --pass fw",
    "host sums along fw": ALONG + " --cell summed --arch cpu --shape B=2,T=5,H=2,D=40 --pass fw",
    "host turns along fw": ALONG + " --cell beside --arch cpu --shape B=3,T=5,H=2,D=40 --pass fw",
    "numbers fw": NUMBERS + "--pass fw " + PLAIN,
    "numbers bw": NUMBERS + "--pass bw --param segments=1 --param channels=16 " + STREAM,
    "head fw": HEADS + " --cell rmsgate --shape B=2,T=19,D=72 --pass fw --param per_thread=1 --param heads=1 "
               "--param steps=4 --param stages=2 " + STREAM,
    "head of moments": HEADS + " --cell lngate --shape B=2,T=9,D=72 --pass fw --param per_thread=1 --param heads=1 "
                       "--param steps=4 --param stages=2 " + STREAM,
    "head bw": HEADS + " --cell stable --shape B=2,T=9,D=40 --pass bw --param per_thread=1 --param steps=4 "
               "--param stages=2 " + STREAM,
    "head of a cluster fw": HEADS + " --cell rmsgate --shape B=2,T=19,D=150 --pass fw --param per_thread=1 "
                            "--param head_split=2 --param steps=4 --param stages=2 " + STREAM,
    "head of a cluster bw": HEADS + " --cell stable --shape B=2,T=9,D=150 --pass bw --param per_thread=1 "
                            "--param head_split=2 --param steps=4 --param stages=2 " + STREAM,
    "head of 33 warps": HEADS + " --cell lngate --shape B=1,T=3,D=1030 --pass fw --param per_thread=1 --param unroll=1 "
                        "--param head_split=4 --param steps=1 --param stages=2 " + STREAM,
    "heads of a block": HEADS + " --cell stable --shape B=2,T=9,H=3,D=8 --pass fw --param per_thread=1 --param heads=4 "
                        "--param steps=4 --param stages=2 " + STREAM,
    "turing copies": "mingru --arch t4 --shape B=2,T=70,D=48 --pass fw --param segments=1 --param channels=16 --param steps=8 "
                     "--param producer_warps=1 --param stages=3 --param unroll=4 " + STREAM,
    "turing turns bw": "elman --arch t4 --shape B=9,T=20,D=40 --pass bw --param units=8 --param stages=3 --param warps=2 " + TURNS,
    "forms fw": "mingru --forms resets,lengths --shape B=5,T=41,D=40 --pass fw --param steps=8 --param stages=2 " + PLAIN,
    "numbers shoot": NUMBERS.replace("T=19", "T=300") + "--pass fw --param segments=8 --param time_split=2 "
                     "--param exchange=cluster " + SHOT,
    "late fw": DRAWS + " --forms lengths,reversed --shape B=5,T=41,D=40,H=2 --pass fw --param steps=8 --param stages=2 " +
               PLAIN,
    "late saving": ROWS + " --cell rows --forms resets,lengths,reversed --shape B=5,T=41,D=40,H=2 --pass fws "
                   "--param steps=8 --param stages=2 " + PLAIN,
    "late bw": DRAWS + " --forms resets,lengths,reversed --shape B=5,T=41,D=40,H=2 --pass bw --param steps=8 "
               "--param stages=2 " + PLAIN,
    "late persistent": "lstm --forms resets,lengths,reversed --shape B=11,T=33,D=40,H=2 --pass fws --param blocks=1 --param steps=2 " + KEPT,
    "late persistent draws": "zoneout --forms lengths,reversed --shape B=11,T=33,D=40,H=2 --pass fw --param blocks=1 --param steps=2 " + KEPT,
    "late shoot": DRAWS + " --forms lengths,reversed --shape B=5,T=300,D=40,H=2 --pass fws --param segments=8 "
                  "--param time_split=2 --param exchange=cluster " + SHOT,
    "late shoot saving": "paragru --forms lengths,reversed --shape B=5,T=1200,D=40,H=2 --pass fws --param segments=8 "
                         "--param time_split=2 --param exchange=cluster " + SHOT,
    "directions": "mingru --forms resets,lengths,directions --shape B=5,T=41,D=40,H=2 --pass fw --param steps=8 "
                  "--param stages=2 " + PLAIN,
    "directions short": DRAWS + " --forms lengths,directions --shape B=5,T=41,D=40,H=2 --pass fws --param steps=8 "
                        "--param stages=2 " + PLAIN,
    "directions persistent": "lstm --forms resets,lengths,directions --shape B=11,T=33,D=40,H=2 --pass fws "
                             "--param blocks=1 --param steps=2 " + KEPT,
    "forms reversed": "mingru --forms lengths,reversed --shape B=5,T=41,D=40 --pass fw --param steps=8 "
                      "--param stages=2 " + PLAIN,
    "forms in segments": "mingru --forms resets,lengths --shape B=5,T=77,D=40 --pass fws --param segments=4 "
                         "--param steps=16 --param channels=16 --param stages=2 --param time_split=1 " + STREAM,
    "forms among blocks": "mingru --forms lengths --shape B=6,T=150,D=40 --pass fw --param segments=4 --param steps=64 "
                          "--param channels=32 --param time_split=2 --param exchange=global --param stages=2 " + STREAM,
    "forms shoot": "paragru --forms resets --shape B=2,T=1000,D=40 --pass fw --param segments=16 --param time_split=1 " +
                   SHOT,
    "forms of batch tiles": "elman --forms resets,lengths --shape B=17,T=9,D=24 --pass fws --param blocks=1 "
                            "--param batch_tiles=2 --param steps=2 " + KEPT,
    "forms of carries": "lstm --forms resets --shape B=9,T=11,D=24 --pass fw --param blocks=1 --param steps=2 " + KEPT,
    "forms of products": "elman --forms resets --shape B=9,T=20,D=24 --pass bw --param blocks=1 --param steps=4 " + KEPT,
    "forms in turns": "mgu --forms resets,lengths --shape B=9,T=20,D=40 --pass bw --param units=8 --param stages=2 "
                      "--param warps=2 " + TURNS,
}


def fault(name, file, old, new, *cases, test=None):
    folder = "" if file.startswith(("compiler/", "engine/", "runtime/", "tools/", "tuner/", "tuning_db/", "python/")) else "compiler/"
    return {"name": name, "file": folder + file, "old": old, "new": new, "cases": list(cases), "test": test}


S, H, P, A, W, G, L = ("schedule/stream/", "schedule/shoot/", "schedule/persistent/", "schedule/alternating/",
                       "schedule/stepwise/", "schedule/gemm/", "schedule/lower/")
R = "runtime/package/"
