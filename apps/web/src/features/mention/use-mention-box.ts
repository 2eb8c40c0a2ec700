'use client';
import { type KeyboardEvent, type SyntheticEvent, useId, useRef, useState } from 'react';
import { writtenMention } from './mentions.ts';
import { isOffered, type Suggestion, type Suggestions } from './suggestion.ts';
import { type Edit, nextField, type Token, takeMention, takePrompt, tokenAt } from './token.ts';

export interface MentionBox {
  /** What is being typed; `null`: no list is offered. */
  readonly token: Token | null;
  /** Id of the list; its lines have it with their index. */
  readonly listId: string;
  /** Index of the line that Enter takes. */
  readonly at: number;
  readonly choose: (suggestion: Suggestion) => void;
  /** What the text box listens to, beside its own. */
  readonly box: {
    readonly ref: React.RefObject<HTMLTextAreaElement | null>;
    readonly onSelect: (event: SyntheticEvent<HTMLTextAreaElement>) => void;
    readonly onBlur: () => void;
    readonly onCompositionStart: () => void;
    readonly onCompositionEnd: (event: SyntheticEvent<HTMLTextAreaElement>) => void;
  };
  /** @returns whether the key was for the list. */
  readonly onKeyDown: (event: KeyboardEvent, suggestions: Suggestions) => boolean;
}

/**
 * The state of a text box in which something may be mentioned. The box stays a plain one: what is chosen is typed into
 * it, so that the browser's own undo takes it back.
 */
export function useMentionBox(): MentionBox {
  const ref = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const [token, setToken] = useState<Token | null>(null);
  const [at, setAt] = useState(0);
  const isComposing = useRef(false);
  /** Start of the word for which Escape has closed the list. */
  const closed = useRef<number | null>(null);
  /** Letters behind a prompt that was put in and has fields left; `null`: none has. */
  const behindFields = useRef<number | null>(null);
  /** The next field of the prompt behind `from`. Where none is left, Tab leaves the box as ever. */
  const fieldFrom = (box: HTMLTextAreaElement, from: number): { start: number; end: number } | null => {
    if (behindFields.current === null) return null;
    const until = box.value.length - behindFields.current;
    if (nextField(box.value, 0, until) === null) behindFields.current = null;
    return nextField(box.value, from, until);
  };
  const look = (box: HTMLTextAreaElement): void => {
    fieldFrom(box, 0);
    const isCaret = box.selectionStart === box.selectionEnd && document.activeElement === box;
    const found = isComposing.current || !isCaret ? null : tokenAt(box.value, box.selectionEnd);
    if (found === null || found.start !== closed.current) closed.current = null;
    const next = closed.current === null ? found : null;
    setToken((now) => (isSame(now, next) ? now : next));
    if (next?.query !== token?.query || next?.start !== token?.start) setAt(0);
  };
  const choose = (suggestion: Suggestion): void => {
    const box = ref.current;
    if (box === null || token === null) return;
    setToken(null);
    const { writes } = suggestion;
    const behind = box.value.length - token.end;
    type(
      box,
      writes.kind === 'prompt' ? takePrompt(token, writes.text) : takeMention(box.value, token, writtenMention(writes)),
    );
    if (writes.kind !== 'prompt') return;
    behindFields.current = behind;
    reveal(box);
  };
  const goToField = (event: KeyboardEvent): boolean => {
    const box = ref.current;
    if (event.key !== 'Tab' || hasModifier(event) || box === null) return false;
    const field = fieldFrom(box, box.selectionEnd);
    if (field === null) return false;
    event.preventDefault();
    box.setSelectionRange(field.start, field.end);
    reveal(box);
    return true;
  };
  return {
    token,
    listId,
    at,
    choose,
    box: {
      ref,
      onSelect: ({ currentTarget }) => look(currentTarget),
      onBlur: () => setToken(null),
      onCompositionStart: () => {
        isComposing.current = true;
        setToken(null);
      },
      onCompositionEnd: ({ currentTarget }) => {
        isComposing.current = false;
        look(currentTarget);
      },
    },
    onKeyDown: (event, suggestions) => {
      if (event.nativeEvent.isComposing) return false;
      if (!isOffered(token, suggestions)) return goToField(event);
      const { lines, isBusy } = suggestions;
      const line = lines[Math.min(at, lines.length - 1)];
      if (event.key === 'Escape') {
        closed.current = token.start;
        setToken(null);
      } else if (line === undefined) return false;
      else if (event.key === 'ArrowDown') setAt((now) => Math.min(lines.length - 1, now + 1));
      else if (event.key === 'ArrowUp') setAt((now) => Math.max(0, Math.min(now, lines.length - 1) - 1));
      else if ((event.key === 'Enter' || event.key === 'Tab') && !hasModifier(event)) {
        if (!isBusy) choose(line);
      } else return false;
      event.preventDefault();
      event.stopPropagation();
      return true;
    },
  };
}

/** What the text box is given beside its own: it says which line of the list is marked, and hands on its keys. */
export function mentionProps(mention: MentionBox, suggestions: Suggestions) {
  const isOpen = isOffered(mention.token, suggestions);
  const marked = Math.min(mention.at, suggestions.lines.length - 1);
  return {
    ...mention.box,
    'aria-autocomplete': 'list',
    'aria-controls': isOpen ? mention.listId : undefined,
    'aria-activedescendant': isOpen && marked >= 0 ? `${mention.listId}-${marked}` : undefined,
    onKeyDown: (event: KeyboardEvent) => void mention.onKeyDown(event, suggestions),
  } as const;
}

const hasModifier = ({ ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean =>
  ctrlKey || metaKey || altKey || shiftKey;

const isSame = (a: Token | null, b: Token | null): boolean =>
  a?.mark === b?.mark && a?.start === b?.start && a?.end === b?.end && a?.query === b?.query;

/** Scrolls to the selection, which setting it does not. */
function reveal(box: HTMLTextAreaElement): void {
  if (box.scrollHeight <= box.clientHeight) return;
  box.blur();
  box.focus();
}

function type(box: HTMLTextAreaElement, { start, end, insert, selectionStart, selectionEnd }: Edit): void {
  box.focus();
  box.setSelectionRange(start, end);
  // The one way into a field's own undo; where a browser has dropped it, the text is changed without.
  if (!document.execCommand('insertText', false, insert)) {
    box.setRangeText(insert, start, end, 'end');
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }
  box.setSelectionRange(selectionStart, selectionEnd);
}
