import type { ReactNode } from 'react';
import { messagesOf } from './messages-of.ts';
import { MoreMessages } from './more-messages.tsx';
import type { Catalogue } from './translate.ts';

/**
 * Gives a page the messages of its features beyond `BASE`; its browser gets no others.
 * `npm run check` names a page that misses one.
 */
export function WithMessages({ of, children }: { of: ReadonlyArray<keyof Catalogue>; children: ReactNode }) {
  return <MoreMessages messages={messagesOf(of)}>{children}</MoreMessages>;
}
