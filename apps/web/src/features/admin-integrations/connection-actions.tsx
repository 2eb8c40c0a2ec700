'use client';
import { type ConnectionWithSecret, type IntegrationConnection, type IntegrationProvider, UpdateIntegrationConnection } from '@slipway/contracts';
import { Button, ConfirmDialog, Dialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { CopyLine, SecretBox } from '../form/secret-box.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { ConnectionFields } from './connection-fields.tsx';
import { changeOf, valuesOf } from './connection-values.ts';
import { EnterSecret } from './made-connection.tsx';
import { guideOf, secretOf } from './setup-steps.ts';

interface Given {
  readonly connection: IntegrationConnection;
  readonly provider: IntegrationProvider;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** What an admin can do with a connection. */
export function ConnectionActions({
  connection,
  provider,
  onChanged,
}: {
  connection: IntegrationConnection;
  provider: IntegrationProvider;
  onChanged: () => void;
}) {
  const [doing, setDoing] = useState<'edit' | 'rotate' | 'disable' | 'enable' | 'delete' | null>(null);
  const close = () => setDoing(null);
  const given = { connection, provider, onClose: close, onDone: onChanged };
  const isDisabled = connection.state === 'disabled';
  return (
    <span className="flex items-center gap-1">
      <Button onClick={() => setDoing('edit')}>Edit</Button>
      <Menu
        trigger={
          <IconButton label={`Actions of ${connection.name}`}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        {connection.address === null && connection.signature !== 'socket' ? null : <MenuItem onSelect={() => setDoing('rotate')}>Replace the secret…</MenuItem>}
        <MenuItem onSelect={() => setDoing(isDisabled ? 'enable' : 'disable')}>{isDisabled ? 'Enable…' : 'Disable…'}</MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      {doing === 'edit' ? <EditDialog {...given} /> : null}
      {doing === 'rotate' ? <RotateDialog {...given} /> : null}
      {doing === 'disable' || doing === 'enable' ? <TurnDialog {...given} disable={doing === 'disable'} /> : null}
      {doing === 'delete' ? <DeleteDialog {...given} /> : null}
    </span>
  );
}

function EditDialog({ connection, provider, onClose, onDone }: Given) {
  const { org } = useSession();
  const form = useForm({
    initial: valuesOf(connection),
    schema: UpdateIntegrationConnection,
    requestOf: (values) => changeOf(values, connection),
    send: (body) => api.updateIntegrationConnection({ org: org.id, connection: connection.id, body }),
    onDone: (saved) => {
      toast(`${saved.name} is changed.`);
      onDone();
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={`Edit ${connection.name}`} className="w-[min(640px,calc(100vw-32px))]">
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <ConnectionFields form={form} provider={provider} tokenHint={guideOf(provider).tokenHint} tokenIsSet={connection.tokenSetAt !== null} />
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The secret before works for another day, so that the provider can be changed in between. */
function RotateDialog({ connection, provider, onClose, onDone }: Given) {
  const { org } = useSession();
  const guide = guideOf(provider);
  const [made, setMade] = useState<ConnectionWithSecret | null>(null);
  const rotate = useMutation({
    mutationFn: () => api.rotateWebhookSecret({ org: org.id, connection: connection.id, body: {} }),
    onSuccess: (result) => {
      setMade(result);
      onDone();
    },
  });
  const entered = () => {
    toast(`${connection.name} has a new secret.${connection.signature === 'socket' ? '' : ' The old one is taken for another 24 hours.'}`);
    onDone();
    onClose();
  };
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={`Replace the secret of ${connection.name}`}>
      {made !== null ? (
        <div className="flex flex-col gap-4 p-4">
          <p className="text-sm">Enter it at {provider.name} within 24 hours: until then the old secret is taken too.</p>
          {connection.address === null ? null : <CopyLine label="Address" text={connection.address} />}
          <SecretBox label={guide.secretName} secret={made.webhookSecret ?? ''} />
          <Button tone="primary" className="self-end" onClick={onClose}>
            Done
          </Button>
        </div>
      ) : guide.secret === 'ours' ? (
        <div className="flex flex-col gap-4 p-4">
          <p className="text-sm">A new secret is made and shown once. The old one is taken for another 24 hours.</p>
          <ErrorNotice error={rotate.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>Cancel</Button>
            <Button tone="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
              Make a new secret
            </Button>
          </div>
        </div>
      ) : (
        <div className="flex flex-col gap-4 p-4">
          <p className="text-sm">
            {connection.signature === 'socket'
              ? `${provider.name} makes the token. Slipway opens its socket with the new one at once.`
              : `${provider.name} makes the secret. The one that is set now is taken for another 24 hours.`}
          </p>
          <EnterSecret
            connectionId={connection.id}
            label={secretOf(guide, connection.kind).name}
            hint={secretOf(guide, connection.kind).hint}
            onDone={entered}
          />
        </div>
      )}
    </Dialog>
  );
}

function TurnDialog({ connection, disable, onClose, onDone }: Given & { disable: boolean }) {
  const { org } = useSession();
  const turn = useMutation({
    mutationFn: () => api.updateIntegrationConnection({ org: org.id, connection: connection.id, body: { disabled: disable } }),
    onSuccess: () => {
      toast(disable ? `${connection.name} is disabled.` : `${connection.name} is enabled.`);
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`${disable ? 'Disable' : 'Enable'} ${connection.name}?`}
      confirmLabel={disable ? 'Disable' : 'Enable'}
      busy={turn.isPending}
      onConfirm={() => turn.mutate()}
    >
      <p>
        {disable
          ? 'Deliveries are still taken and listed, and start nothing. Conversations that are under way go on.'
          : 'Deliveries from now on are acted on. Those that came in between can be redelivered one by one.'}
      </p>
      <ErrorNotice error={turn.error} />
    </ConfirmDialog>
  );
}

function DeleteDialog({ connection, provider, onClose, onDone }: Given) {
  const { org } = useSession();
  const router = useRouter();
  const remove = useMutation({
    mutationFn: () => api.deleteIntegrationConnection({ org: org.id, connection: connection.id }),
    onSuccess: () => {
      toast(`${connection.name} is deleted.`);
      router.replace(`/${org.slug}/admin/integrations`);
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Delete ${connection.name}?`}
      confirmLabel="Delete"
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      <p>
        Its address is unknown from then on: {provider.name} is refused until the webhook there is removed. Its secrets, its access token and its log of
        deliveries are deleted.
      </p>
      <p>Conversations that it started stay. New comments in their threads no longer reach them.</p>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}
