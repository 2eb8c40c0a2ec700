'use client';
import type { ApiKey, CreatedApiKey } from '@slipway/contracts';
import { Button, ConfirmDialog, Dialog, Field, IconButton, Menu, MenuItem, Select } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { MadeKey } from './create-key.tsx';

const OVERLAPS = [
  { value: '0', label: 'Not at all' },
  { value: '3600', label: 'For an hour' },
  { value: '86400', label: 'For a day' },
  { value: '604800', label: 'For a week' },
];

/** What is being done with a key. */
export interface KeyTask {
  readonly what: 'rotate' | 'revoke';
  readonly key: ApiKey;
}

/** What can be done with a key that still works, or whose descendants do. */
export function KeyMenu({ apiKey, onTask }: { apiKey: ApiKey; onTask: (task: KeyTask) => void }) {
  const hasEnded = apiKey.state === 'expired' || apiKey.state === 'revoked';
  if (hasEnded && apiKey.descendants === 0) return null;
  return (
    <Menu
      trigger={
        <IconButton label={`Actions of ${apiKey.name}`}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {hasEnded ? null : <MenuItem onSelect={() => onTask({ what: 'rotate', key: apiKey })}>Rotate…</MenuItem>}
      <MenuItem className="text-bad" onSelect={() => onTask({ what: 'revoke', key: apiKey })}>
        {hasEnded ? 'Revoke keys made with it…' : 'Revoke…'}
      </MenuItem>
    </Menu>
  );
}

/** The dialog of a task. It belongs to the page and not to the row: the row of a key that was rotated may be gone before its new token has been copied. */
export function KeyTaskDialog({ task, onClose, onChanged }: { task: KeyTask; onClose: () => void; onChanged: () => void }) {
  if (task.what === 'revoke') return <RevokeDialog apiKey={task.key} onClose={onClose} onDone={onChanged} />;
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={`Rotate ${task.key.name}`}>
      <Rotate apiKey={task.key} onClose={onClose} onDone={onChanged} />
    </Dialog>
  );
}

function RevokeDialog({ apiKey, onClose, onDone }: { apiKey: ApiKey; onClose: () => void; onDone: () => void }) {
  const { org } = useSession();
  const { name, descendants } = apiKey;
  const hasEnded = apiKey.state === 'expired' || apiKey.state === 'revoked';
  const children = descendants === 1 ? '1 key that was made with it' : `${descendants} keys that were made with it`;
  const revoke = useMutation({
    mutationFn: () => api.revokeApiKey({ org: org.id, key: apiKey.id }),
    onSuccess: () => {
      toast(hasEnded ? `The keys made with ${name} are revoked.` : `${name} is revoked.`);
      onClose();
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(next) => next || onClose()}
      title={hasEnded ? `Revoke the keys made with ${name}?` : `Revoke ${name}?`}
      confirmLabel="Revoke"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
    >
      <p>
        {hasEnded
          ? `It has ended itself. Within two seconds ${children} ${descendants === 1 ? 'opens' : 'open'} nothing any more.`
          : 'Within two seconds it opens nothing any more, and what is open with it ends.'}{' '}
        {!hasEnded && descendants > 0 ? `So ${descendants === 1 ? 'does' : 'do'} ${children}. ` : null}
        This cannot be taken back.
      </p>
      <ErrorNotice error={revoke.error} />
    </ConfirmDialog>
  );
}

function Rotate({ apiKey, onClose, onDone }: { apiKey: ApiKey; onClose: () => void; onDone: () => void }) {
  const { org } = useSession();
  const [overlap, setOverlap] = useState('86400');
  const [made, setMade] = useState<CreatedApiKey | null>(null);
  const rotate = useMutation({
    mutationFn: () => api.rotateApiKey({ org: org.id, key: apiKey.id, body: { overlapSeconds: Number(overlap) } }),
    onSuccess: (key) => {
      setMade(key);
      onDone();
    },
  });
  if (made !== null)
    return (
      <MadeKey
        made={made}
        onClose={onClose}
        note={overlap === '0' ? 'The old token opens nothing any more.' : 'The old token works on for the time that you have chosen, then it ends by itself.'}
      />
    );
  return (
    <div className="flex flex-col gap-4 p-4">
      <p className="text-sm">A new key with the same permissions takes its place. Its token is shown once.</p>
      <Field label="The old token works on">{(control) => <Select {...control} value={overlap} options={OVERLAPS} onChange={setOverlap} />}</Field>
      <ErrorNotice error={rotate.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate
        </Button>
      </div>
    </div>
  );
}
