"""Decides before anything runs: a plan with its bound, a witness, or "undecided".

Rooms, from the ground up: `model`, `sizes`, `normalise`, `criteria`; `split`, `plans`, `witness`;
`verdict`, `explain`; `decide`, `repair`. Doors: `decide.check_query`, `verdict.verdict`,
`repair.find_repairs`, and `model` for its data. Sources and deviations: citations.md.
"""
