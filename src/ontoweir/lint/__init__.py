"""What ontology and mappings allow: `check --mappings-only`, and `ontology`.

Takes a workspace; makes lints. Warnings of what mappings may say by mistake are in
`pipeline/warn_mappings`.
"""
