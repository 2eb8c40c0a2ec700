'use client';
import { type ConnectionApp, type IntegrationConnection, ReplaceAppSecrets } from '@slipway/contracts';
import { Button, ConfirmDialog, Dialog, Field, Input, Textarea } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
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
      toast(`The app has new secrets. Delete the old ones at ${name}.`);
      onDone();
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title="Replace the secrets of the app">
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <p className="text-sm">
          Make them in the settings of the app at {name}, which takes the old ones until you delete them there. What is left empty stays as it is.
        </p>
        <Field label="Private key" hint="The whole file that you are given." error={form.error('privateKey')}>
          {(control) => (
            <Textarea
              {...control}
              rows={4}
              className="font-mono text-xs"
              value={form.values.privateKey}
              placeholder="-----BEGIN RSA PRIVATE KEY-----"
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('privateKey', event.target.value)}
            />
          )}
        </Field>
        <Field label="Client secret" error={form.error('clientSecret')}>
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
        <p className="text-xs text-ink-muted">The webhook secret is replaced under Actions, Replace the secret.</p>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            Replace
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function ReleaseDialog({ connection, app, name, onClose, onDone }: Given & { app: ConnectionApp }) {
  const { org } = useSession();
  const account = app.account?.login ?? 'the account';
  const release = useMutation({
    mutationFn: () => api.releaseIntegrationApp({ org: org.id, connection: connection.id }),
    onSuccess: () => {
      toast(`${account} is given up.`);
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Give up ${account}?`}
      confirmLabel="Give up"
      busy={release.isPending}
      onConfirm={() => release.mutate()}
    >
      <p>
        Nothing of {account} is read, answered or published here any more. An owner of {account} can then claim it for another organization. The app stays
        installed at {name}, and the connection keeps its settings and its log.
      </p>
      <ErrorNotice error={release.error} />
    </ConfirmDialog>
  );
}
