'use client';
import { cn } from '@slipway/ui';
import { useMemo } from 'react';
import { usePlaces } from '../../commands/command-context.tsx';
import { useConversation } from '../conversation-context.ts';
import type { Turn } from './turns-of-rows.ts';
import { useTurns } from './use-turns.ts';

/** More marks than this cannot be seen apart: of a longer conversation every so many turns have one. */
const MOST_MARKS = 120;

/**
 * One mark a turn, for the eye and the pointer alone: keys have the commands of turns. A mark's shape says what the
 * turn brought.
 */
export function TurnRail() {
  const { reveal } = useConversation();
  const turns = useTurns();
  // The same turns for everybody else.
  usePlaces(
    useMemo(
      () => turns.toReversed().map(({ seq, text }) => ({ key: String(seq), text, go: () => reveal.ask(seq) })),
      [turns, reveal],
    ),
  );
  if (turns.length < 2) return null;
  const every = Math.ceil(turns.length / MOST_MARKS);
  return (
    <div
      aria-hidden
      className="absolute inset-y-0 left-0 z-10 flex w-6 flex-col items-center justify-center py-2 max-md:hidden"
    >
      {turns.map((turn, index) =>
        index % every === 0 ? (
          // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: for the pointer alone; keys and readers have the commands of turns
          <div
            key={turn.seq}
            title={turn.text}
            onClick={() => reveal.ask(turn.seq)}
            className="group flex min-h-0 w-full max-w-6 flex-1 cursor-pointer items-center justify-center [max-height:20px]"
          >
            <span className={cn('block transition-transform group-hover:scale-150', shapeOf(turn))} />
          </div>
        ) : null,
      )}
    </div>
  );
}

function shapeOf({ edits, failures }: Turn): string {
  if (failures) return 'size-1.5 rotate-45 bg-bad';
  return edits ? 'size-1.5 rounded-full bg-accent' : 'h-0.5 w-2 bg-ink-muted';
}
