'use client';
import { useMemo } from 'react';
import { ansiSpans } from '../ansi.ts';

/** Terminal output with its colours. */
export function AnsiText({ text }: { text: string }) {
  const spans = useMemo(() => ansiSpans(text), [text]);
  return spans.map((span, index) =>
    span.look === '' ? (
      span.text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text has its spans in one order
      <span key={index} className={span.look}>
        {span.text}
      </span>
    ),
  );
}
