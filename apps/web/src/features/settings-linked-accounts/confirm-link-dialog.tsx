'use client';
import type { LinkedAccount } from '@slipway/contracts';
import { Button, Dialog } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ahead } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useMe } from '../session/me.ts';

/** Names both accounts before they are linked: who the provider says it is, and who is signed in here. */
export function ConfirmLinkDialog({ link, onClose, onChanged }: { link: LinkedAccount; onClose: () => void; onChanged: () => void }) {
  const me = useMe().data;
  const confirm = useMutation({
    mutationFn: () => api.confirmLink({ link: link.id }),
    onSuccess: () => {
      toast(`${link.login} is linked.`);
      onChanged();
      onClose();
    },
  });
  const giveUp = useMutation({
    mutationFn: () => api.deleteLinkedAccount({ link: link.id }),
    onSuccess: () => {
      onChanged();
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title="Link this account?">
      <div className="flex flex-col gap-4 p-4">
        <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)]">
          <Account label={`At ${link.providerName}`} name={link.login} detail={`${link.host}, id ${link.externalUserId}`} />
          <ArrowRight aria-hidden className="size-4 self-center justify-self-center text-ink-muted max-sm:rotate-90" />
          <Account label="In Slipway" name={me?.name ?? ''} detail={[me?.email, link.orgName].filter(Boolean).join(', ')} />
        </div>
        <p className="text-sm">
          What {link.login} asks for at {link.host} is then done in your name in {link.orgName}: with your permissions and on your budget. Link it only if it is
          yours.
        </p>
        {link.expiresAt === null ? null : (
          <p className="text-xs text-ink-muted">
            Ends <Ahead at={link.expiresAt} />
          </p>
        )}
        <ErrorNotice error={confirm.error ?? giveUp.error} />
        <div className="flex justify-end gap-2">
          <Button busy={giveUp.isPending} onClick={() => giveUp.mutate()}>
            Cancel
          </Button>
          <Button tone="primary" busy={confirm.isPending} onClick={() => confirm.mutate()}>
            Link
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Account({ label, name, detail }: { label: string; name: string; detail: string }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-raised px-3 py-2">
      <p className="text-xs text-ink-muted">{label}</p>
      <p className="font-medium break-words">{name}</p>
      <p className="text-xs break-words text-ink-muted">{detail}</p>
    </div>
  );
}
