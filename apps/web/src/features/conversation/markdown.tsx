'use client';
import { lazy, Suspense } from 'react';

/** The reader of Markdown is the largest part of the page: text shows as it is until it is there. */
const View = lazy(() => import('./markdown-view.tsx'));

export function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  return (
    <Suspense
      fallback={
        <div dir="auto" className="prose whitespace-pre-wrap">
          {text}
        </div>
      }
    >
      <View text={text} streaming={streaming} />
    </Suspense>
  );
}
