'use client';
import { type ConnectionApp, type IntegrationConnection, ReplaceAppSecrets } from '@slipway/contracts/integrations';
import { Button, ConfirmDialog, Dialog, Field, Input, Textarea } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

interface Given {
  readonly connection: IntegrationConnection;
  readonly name: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The provider takes old and new until the old ones are deleted there, so nothing stands still in between. */
export function AppSecretsDialog({ connection, name, onClose, onDone }: Given) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: { privateKey: '', clientSecret: '' },
    schema: ReplaceAppSecrets,
    requestOf: ({ privateKey, clientSecret }) => ({
      ...(privateKey.trim() === '' ? {} : { privateKey }),
      ...(clientSecret.trim() === '' ? {} : { clientSecret }),
    }),
    send: (body) => api.replaceIntegrationAppSecrets({ org: org.id, connection: connection.id, body }),
    onDone: () => {
      toast(t('adminIntegrations.appSecretsReplacedDeleteThe', { name }));
      onDone();
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={t('adminIntegrations.replaceAppSecrets')}>
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <p className="text-sm">{t('adminIntegrations.createThemInTheApps', { name })}</p>
        <Field
          label={t('adminIntegrations.privateKey')}
          hint={t('adminIntegrations.theEntireFileYouDownloaded')}
          error={form.error('privateKey')}
        >
          {(control) => (
            <Textarea
              {...control}
              rows={4}
              className="font-mono text-xs"
              value={form.values.privateKey}
              placeholder={t('adminIntegrations.beginRsaPrivateKey')}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('privateKey', event.target.value)}
            />
          )}
        </Field>
        <Field label={t('adminIntegrations.clientSecret')} error={form.error('clientSecret')}>
          {(control) => (
            <Input
              {...control}
              type="password"
              value={form.values.clientSecret}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('clientSecret', event.target.value)}
            />
          )}
        </Field>
        <p className="text-xs text-ink-muted">{t('adminIntegrations.toReplaceTheWebhookSecret')}</p>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            {t('adminIntegrations.replace')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function ReleaseDialog({ connection, app, name, onClose, onDone }: Given & { app: ConnectionApp }) {
  const t = useTranslations();
  const { org } = useSession();
  const account = app.account?.login ?? t('adminIntegrations.theAccount');
  const release = useMutation({
    mutationFn: () => api.releaseIntegrationApp({ org: org.id, connection: connection.id }),
    onSuccess: () => {
      toast(t('adminIntegrations.isReleased', { account }));
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminIntegrations.release', { account })}
      confirmLabel={t('adminIntegrations.release2')}
      busy={release.isPending}
      onConfirm={() => release.mutate()}
    >
      <p>{t('adminIntegrations.slipwayNoLongerReadsReplies', { account, name })}</p>
      <ErrorNotice error={release.error} />
    </ConfirmDialog>
  );
}
