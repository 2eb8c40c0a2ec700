import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const either = (light: string, dark: string): string => `light-dark(${light}, ${dark})`;

/** Every colour is at least 4.5:1 on the surface of its theme. */
const colours = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.controlKeyword],
    color: either('#8a2390', '#d7a6ff'),
  },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.inserted], color: either('#11703c', '#8fd6a8') },
  { tag: [tags.comment, tags.meta], color: 'var(--ink-muted)' },
  {
    tag: [tags.number, tags.bool, tags.null, tags.atom, tags.constant(tags.name)],
    color: either('#8a5300', '#e6b35a'),
  },
  {
    tag: [
      tags.function(tags.variableName),
      tags.function(tags.propertyName),
      tags.definition(tags.variableName),
      tags.link,
    ],
    color: either('#2747b8', '#8aa6ff'),
  },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.attributeName], color: either('#0b6472', '#6fd0dd') },
  { tag: [tags.tagName, tags.deleted, tags.invalid], color: either('#b3261e', '#ff8a80') },
  { tag: tags.heading, color: 'var(--ink)', fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strong, fontWeight: '600' },
]);

const box = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', color: 'var(--ink)', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '18px' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '6px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--ink-muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--raised) 55%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { fontFamily: 'var(--font-sans)', padding: '6px 28px 6px 8px' },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    fontSize: '12px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    fontSize: '12px',
  },
  '.cm-panel.cm-search [name=close]': { color: 'var(--ink)', right: '8px', top: '6px' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-collapsedLines': { backgroundImage: 'none', backgroundColor: 'var(--raised)', color: 'var(--ink-muted)' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--ok-soft) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important', paddingLeft: '6px' },
  '.cm-changedText, .cm-deletedText': {
    background: 'none !important',
    textDecoration: 'underline',
    textUnderlineOffset: '3px',
  },
  '.cm-deletedChunk .cm-chunkButtons': { display: 'flex', gap: '4px', insetInlineEnd: '8px', top: '2px' },
  '.cm-chunkButtons button': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    padding: '1px 8px',
    fontFamily: 'var(--font-sans)',
    fontSize: '12px',
    cursor: 'pointer',
    minHeight: '24px',
  },
});

/** Follows the page's theme by itself. */
export const editorLook: Extension = [box, syntaxHighlighting(colours)];
