"""What people may do to the wiki, one verb a file: propose, review, answer, import, undo.

Every step takes its turn (turn.py), writes its line of history in the same transaction, and refuses
with the field and what is accepted. Nothing is deleted.
"""
