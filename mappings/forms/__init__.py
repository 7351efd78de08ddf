"""The public JSON forms of IDL types, values, events and messages: FORMS.md, one module for each of its sections."""
