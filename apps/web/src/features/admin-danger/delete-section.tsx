'use client';
import { Button, ConfirmDialog, Section } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';

/** Deletes it in 48 hours, after its name was typed. Taking that back is the note above every page. */
export function DeleteSection() {
  const { org } = useSession();
  const { put } = useMyOrgs();
  const [asking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteOrg({ org: org.id, body: { confirm: org.name } }),
    onSuccess: async (answer) => {
      await put(answer);
      setAsking(false);
    },
  });
  return (
    <Section title="Delete it" description="Everybody but its owners is out at once. For 48 hours an owner can restore it; then all of it is gone for good.">
      <div className="rounded-lg border border-line bg-surface p-4">
        {org.deletesAt === null ? (
          <Button
            tone="danger"
            className="h-auto min-h-8 max-w-full shrink py-1 break-words whitespace-normal touch:h-auto touch:min-h-11"
            onClick={() => setAsking(true)}
          >
            Delete {org.name}
          </Button>
        ) : (
          <p className="text-sm text-ink-muted">It waits for its deletion. The note above this page takes it back.</p>
        )}
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={(open) => {
          setAsking(open);
          remove.reset();
        }}
        title={`Delete ${org.name}?`}
        confirmLabel="Delete it"
        typed={org.name}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>At once: members lose it, its API keys stop working, its sandboxes end, and nothing in it can be changed.</p>
        <p>After 48 hours: its conversations, secrets, settings and audit are gone, and nobody can bring them back.</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </Section>
  );
}
