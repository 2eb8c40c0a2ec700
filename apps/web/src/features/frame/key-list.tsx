'use client';
import { Dialog, Kbd } from '@slipway/ui';
import { SEND_KEY } from '../../browser/keys.ts';

/** Every key of the pages, in the order in which they are of use. */
const KEYS: ReadonlyArray<{ readonly keys: readonly string[]; readonly does: string }> = [
  { keys: ['c'], does: 'New task' },
  { keys: ['g', 'c'], does: 'Go to the conversations' },
  { keys: ['g', 'a'], does: 'Go to admin' },
  { keys: ['/'], does: 'Search' },
  { keys: [SEND_KEY], does: 'Send the message, start the task' },
  { keys: ['Esc'], does: 'Leave the field, so that the keys work' },
  { keys: ['?'], does: 'This list' },
];

export function KeyList({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts" description="They are off where something is typed.">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2 p-4 text-sm">
        {KEYS.map(({ keys, does }) => (
          <div key={does} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
