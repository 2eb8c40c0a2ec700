'use client';
import { EmptyState } from '@slipway/ui';
import { failureOf } from '../../api/failure.ts';
import { Failed } from '../frame/failed.tsx';

/** Nothing of this is known before the sandbox is back. */
export function NotKept() {
  return (
    <EmptyState title="Only the changes against the base were kept">
      The sandbox is away. Send a message, or resume the conversation: with its sandbox all of it is there again.
    </EmptyState>
  );
}

/** Why there is nothing to show. What only a sandbox knows that is away, or newer than what is asked for, is no failure. */
export function NotKnown({ error, retry }: { error: Error; retry: () => void }) {
  const { code, title, detail, nextStep } = failureOf(error);
  if (code === 'conversation.no-workspace') return <EmptyState title="No workspace yet">What the agent changes shows here once it has a sandbox.</EmptyState>;
  if (code?.startsWith('changes.') || code === 'repository.not-found')
    return <EmptyState title={title}>{[detail, nextStep].filter(Boolean).join(' ')}</EmptyState>;
  return <Failed error={error} retry={retry} className="m-4" />;
}
