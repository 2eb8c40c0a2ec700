'use client';
import {
  type ConnectionWithSecret,
  type IntegrationConnection,
  type IntegrationProvider,
  UpdateIntegrationConnection,
} from '@slipway/contracts/integrations';
import { Button, ConfirmDialog, Dialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
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
  const t = useTranslations();
  const [doing, setDoing] = useState<'edit' | 'rotate' | 'disable' | 'enable' | 'delete' | null>(null);
  const close = () => setDoing(null);
  const given = { connection, provider, onClose: close, onDone: onChanged };
  const isDisabled = connection.state === 'disabled';
  return (
    <span className="flex items-center gap-1">
      <Button onClick={() => setDoing('edit')}>{t('common.edit')}</Button>
      <Menu
        trigger={
          <IconButton label={t('common.actionsOf', { name: connection.name })}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        {connection.address === null && connection.signature !== 'socket' ? null : (
          <MenuItem onSelect={() => setDoing('rotate')}>{t('adminIntegrations.replaceSecret')}</MenuItem>
        )}
        <MenuItem onSelect={() => setDoing(isDisabled ? 'enable' : 'disable')}>
          {isDisabled ? t('adminIntegrations.enable') : t('adminIntegrations.disable')}
        </MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          {t('common.delete')}
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
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: valuesOf(connection),
    schema: UpdateIntegrationConnection,
    requestOf: (values) => changeOf(values, connection),
    send: (body) => api.updateIntegrationConnection({ org: org.id, connection: connection.id, body }),
    onDone: (saved) => {
      toast(t('adminIntegrations.updated', { name: saved.name }));
      onDone();
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('common.edit2', { name: connection.name })}
      className="w-[min(640px,calc(100vw-32px))]"
    >
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <ConnectionFields
          form={form}
          provider={provider}
          tokenHint={guideOf(t, provider).tokenHint}
          tokenIsSet={connection.tokenSetAt !== null}
        />
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            {t('common.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The secret before works for another day, so that the provider can be changed in between. */
function RotateDialog({ connection, provider, onClose, onDone }: Given) {
  const t = useTranslations();
  const { org } = useSession();
  const guide = guideOf(t, provider);
  const [made, setMade] = useState<ConnectionWithSecret | null>(null);
  const rotate = useMutation({
    mutationFn: () => api.rotateWebhookSecret({ org: org.id, connection: connection.id, body: {} }),
    onSuccess: (result) => {
      setMade(result);
      onDone();
    },
  });
  const entered = () => {
    toast(
      t('adminIntegrations.hasANewSecret', {
        name: connection.name,
        signature: connection.signature === 'socket' ? '' : t('adminIntegrations.theOldSecretKeepsWorking'),
      }),
    );
    onDone();
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminIntegrations.replaceSecretOf', { name: connection.name })}
    >
      {made !== null ? (
        <div className="flex flex-col gap-4 p-4">
          <p className="text-sm">{t('adminIntegrations.enterItAtWithin24', { name: provider.name })}</p>
          {connection.address === null ? null : <CopyLine label={t('common.address')} text={connection.address} />}
          <SecretBox label={guide.secretName} secret={made.webhookSecret ?? ''} />
          <Button tone="primary" className="self-end" onClick={onClose}>
            {t('common.done')}
          </Button>
        </div>
      ) : guide.secret === 'ours' ? (
        <div className="flex flex-col gap-4 p-4">
          <p className="text-sm">{t('adminIntegrations.createsANewSecretAnd')}</p>
          <ErrorNotice error={rotate.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>{t('common.cancel')}</Button>
            <Button tone="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
              {t('adminIntegrations.createNewSecret')}
            </Button>
          </div>
        </div>
      ) : (
        <div className="flex flex-col gap-4 p-4">
          <p className="text-sm">
            {connection.signature === 'socket'
              ? t('adminIntegrations.createTheTokenAtSlipway', { name: provider.name })
              : t('adminIntegrations.createTheSecretAtThe', { name: provider.name })}
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
  const t = useTranslations();
  const { org } = useSession();
  const turn = useMutation({
    mutationFn: () =>
      api.updateIntegrationConnection({ org: org.id, connection: connection.id, body: { disabled: disable } }),
    onSuccess: () => {
      toast(
        disable
          ? t('adminIntegrations.disabled2', { name: connection.name })
          : t('adminIntegrations.enabled', { name: connection.name }),
      );
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`${disable ? t('adminIntegrations.disable2') : t('adminIntegrations.enable2')} ${connection.name}?`}
      confirmLabel={disable ? t('adminIntegrations.disable2') : t('adminIntegrations.enable2')}
      busy={turn.isPending}
      onConfirm={() => turn.mutate()}
    >
      <p>
        {disable
          ? t('adminIntegrations.deliveriesAreStillReceivedAnd')
          : t('adminIntegrations.newDeliveriesAreHandledAgain')}
      </p>
      <ErrorNotice error={turn.error} />
    </ConfirmDialog>
  );
}

function DeleteDialog({ connection, provider, onClose, onDone }: Given) {
  const t = useTranslations();
  const { org } = useSession();
  const router = useRouter();
  const remove = useMutation({
    mutationFn: () => api.deleteIntegrationConnection({ org: org.id, connection: connection.id }),
    onSuccess: () => {
      toast(t('common.isDeleted', { name: connection.name }));
      router.replace(`/${org.slug}/admin/integrations`);
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('common.delete3', { name: connection.name })}
      confirmLabel={t('common.delete2')}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      <p>{t('adminIntegrations.itsAddressStopsWorkingGets', { name: provider.name })}</p>
      <p>{t('adminIntegrations.conversationsItStartedAreKept')}</p>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}
