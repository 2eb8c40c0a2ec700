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

/** What can be done with a key that still works. */
export function KeyActions({ apiKey, onChanged }: { apiKey: ApiKey; onChanged: () => void }) {
  const [doing, setDoing] = useState<'revoke' | 'rotate' | null>(null);
  if (apiKey.state === 'expired' || apiKey.state === 'revoked') return null;
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions of ${apiKey.name}`}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('rotate')}>Rotate…</MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('revoke')}>
          Revoke…
        </MenuItem>
      </Menu>
      <RevokeDialog open={doing === 'revoke'} apiKey={apiKey} onClose={() => setDoing(null)} onDone={onChanged} />
      <Dialog open={doing === 'rotate'} onOpenChange={(open) => open || setDoing(null)} title={`Rotate ${apiKey.name}`}>
        <Rotate apiKey={apiKey} onClose={() => setDoing(null)} onDone={onChanged} />
      </Dialog>
    </>
  );
}

function RevokeDialog({ open, apiKey, onClose, onDone }: { open: boolean; apiKey: ApiKey; onClose: () => void; onDone: () => void }) {
  const { org } = useSession();
  const revoke = useMutation({
    mutationFn: () => api.revokeApiKey({ org: org.id, key: apiKey.id }),
    onSuccess: () => {
      toast(`${apiKey.name} is revoked.`);
      onClose();
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Revoke ${apiKey.name}?`}
      confirmLabel="Revoke"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
    >
      <p>Within two seconds it opens nothing any more, and what is open with it ends. This cannot be taken back.</p>
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
        note={overlap === '0' ? 'The old token is over.' : 'The old token works on for the time that you have chosen, then it ends by itself.'}
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
