'use client';
import type { LlmProfile } from '@slipway/contracts';
import { ConfirmDialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { ProfileDialog } from './profile-form.tsx';

export function ProfileActions({ profile, onChanged }: { profile: LlmProfile; onChanged: () => void }) {
  const { org } = useSession();
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null);
  const close = () => setDoing(null);
  const done = (said: string) => {
    toast(said);
    close();
    onChanged();
  };
  const remove = useMutation({
    mutationFn: () => api.deleteLlmProfile({ org: org.id, profile: profile.id }),
    onSuccess: () => done(`${profile.name} is deleted.`),
  });
  const makeDefault = useMutation({
    mutationFn: () => api.updateLlmProfile({ org: org.id, profile: profile.id, body: { default: !profile.default } }),
    onSuccess: () => done(profile.default ? `${profile.name} is no longer the default.` : `${profile.name} is what new tasks begin with.`),
    onError: (error) => toast(failureOf(error).title),
  });
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions of ${profile.name}`}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('edit')}>Edit…</MenuItem>
        <MenuItem onSelect={() => makeDefault.mutate()}>{profile.default ? 'No longer the default' : 'Make it the default'}</MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      {doing === 'edit' ? (
        <ProfileDialog profile={profile} onClose={close} onDone={({ name }) => done(`${name} is changed. Conversations get it at their next start.`)} />
      ) : null}
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || close()}
        title={`Delete ${profile.name}?`}
        confirmLabel="Delete"
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>Conversations that use it cannot start again until they are given another model. Agents at work go on with it until they rest.</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </>
  );
}
