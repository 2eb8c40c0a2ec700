'use client';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput, LanguageDescription } from '@codemirror/language';
import { languages } from '@codemirror/language-data';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useTranslations } from 'next-intl';
import { useEffect, useRef } from 'react';
import type { Translate } from '../../messages/translate.ts';
import { editorLook } from './editor-look.ts';
import { changeBetween, lineSeparatorOf } from './text-change.ts';
import { nameOfPath } from './tree-rows.ts';

/** Marks what the page itself put into the editor. */
const fromOutside = Annotation.define<boolean>();

interface CodeEditorProps {
  path: string;
  /** What is to be shown. */
  text: string;
  /** The same, as it is at this moment: an older render must not take back what was typed since. */
  current: () => string;
  /** Shown against the text, with a choice at each difference; `null`: alone. */
  other: string | null;
  readOnly: boolean;
  onChange: (text: string) => void;
  onSave: () => void;
}

/**
 * A text in an editor, coloured by the file's name. What changes outside is put in where it differs: cursor, scroll and
 * undo stay.
 */
export default function CodeEditor(props: CodeEditorProps) {
  // Another way of ending lines is another document for the editor.
  return <Editor key={`${props.path}${lineSeparatorOf(props.text)}`} {...props} />;
}

function Editor(props: CodeEditorProps) {
  const t = useTranslations();
  const { path, text, other, readOnly } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const newest = useRef(props);
  newest.current = props;
  const parts = useRef({ language: new Compartment(), readOnly: new Compartment(), merge: new Compartment() }).current;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; changes are dispatched to it below
  useEffect(() => {
    const save = (): boolean => {
      newest.current.onSave();
      return true;
    };
    const made = new EditorView({
      parent: host.current as HTMLElement,
      state: EditorState.create({
        doc: newest.current.text,
        extensions: [
          EditorState.lineSeparator.of(lineSeparatorOf(newest.current.text)),
          basics,
          keymap.of([{ key: 'Mod-s', preventDefault: true, run: save }]),
          EditorView.contentAttributes.of({
            'aria-label': t('files.contentOf', { path: nameOfPath(path) }),
            'aria-describedby': 'editor-keys',
          }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || update.transactions.some((one) => one.annotation(fromOutside))) return;
            newest.current.onChange(update.state.sliceDoc());
          }),
          parts.language.of([]),
          parts.readOnly.of([]),
          parts.merge.of([]),
        ],
      }),
    });
    view.current = made;
    const description = LanguageDescription.matchFilename(languages, nameOfPath(path));
    // Without its colours a text is still a text.
    description?.load().then(
      (language) => view.current === made && made.dispatch({ effects: parts.language.reconfigure(language) }),
      () => {},
    );
    return () => {
      view.current = null;
      made.destroy();
    };
  }, []);

  useEffect(() => {
    view.current?.dispatch({ effects: parts.readOnly.reconfigure(EditorState.readOnly.of(readOnly)) });
  }, [readOnly, parts]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `text` says that it may be another
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const change = changeBetween(editor.state.sliceDoc(), newest.current.current());
    if (change !== null) editor.dispatch({ changes: change, annotations: fromOutside.of(true) });
  }, [text]);

  useEffect(() => {
    view.current?.dispatch({ effects: parts.merge.reconfigure(other === null ? [] : against(t, other)) });
  }, [other, parts, t]);

  return (
    <>
      <div ref={host} className="h-full min-h-0" />
      <p id="editor-keys" className="sr-only">
        {t('files.tabIndentsPressEscapeThen')}
      </p>
    </>
  );
}

const basics: Extension = [
  lineNumbers(),
  highlightActiveLineGutter(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  search({ top: true }),
  keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
  editorLook,
];

/** What the sandbox has is struck out in red above each place where the user's text differs. */
function against(t: Translate, other: string): Extension {
  return unifiedMergeView({
    original: other,
    gutter: false,
    collapseUnchanged: { margin: 3, minSize: 8 },
    mergeControls: (type, action) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = type === 'accept' ? t('common.mine') : t('files.theirs');
      button.onmousedown = action;
      // By keyboard.
      button.onclick = (event) => {
        if (event.detail === 0) action(event);
      };
      return button;
    },
  });
}
