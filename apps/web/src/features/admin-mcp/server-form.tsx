'use client';
import type { CreateMcpServer, McpServer, UpdateMcpServer } from '@slipway/contracts/secrets';
import { Button, Checkbox, Dialog, Field, Input, Select, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { translated } from '../../messages/translate.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { type Form, useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { EntriesField } from './entries-field.tsx';
import { changedServer, freshSecrets, newServer, type ServerValues, valuesOf } from './server-entries.ts';
import { KIND_OPTIONS } from './server-words.ts';
import { useKeptSecrets } from './use-kept-secrets.ts';
import { useSecretNames } from './use-secret-names.ts';

interface Given {
  /** `null`: a new one. */
  readonly server: McpServer | null;
  readonly onClose: () => void;
  readonly onDone: (server: McpServer) => void;
}

export function ServerDialog(given: Given) {
  const t = useTranslations();
  return (
    <Dialog
      open
      onOpenChange={(open) => open || given.onClose()}
      title={given.server === null ? t('adminMcp.newMcpServer') : t('common.edit2', { name: given.server.name })}
      className="w-[min(600px,calc(100vw-32px))]"
    >
      <ServerForm {...given} />
    </Dialog>
  );
}

function ServerForm({ server, onClose, onDone }: Given) {
  const t = useTranslations();
  const { org } = useSession();
  const secretNames = useSecretNames();
  const kept = useKeptSecrets();
  const form = useForm<ServerValues, ReturnType<typeof newServer> | ReturnType<typeof changedServer>, McpServer>({
    initial: valuesOf(server),
    schema: server === null ? newServer(t) : changedServer(t),
    requestOf: (values) => values,
    send: async (body) => {
      await kept.keep(freshSecrets(form.values), form.values.name);
      return server === null
        ? api.createMcpServer({ org: org.id, body: body as CreateMcpServer })
        : api.updateMcpServer({ org: org.id, server: server.id, body: body as UpdateMcpServer });
    },
    onDone,
    fields: ['headers', 'env'],
  });
  const { values } = form;
  const isProgram = values.transport === 'stdio';
  const kind = KIND_OPTIONS.find(({ value }) => value === values.transport);
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t('common.name')} hint={t('adminMcp.usedAsAPrefixFor')} error={form.error('name')}>
          {(control) => (
            <Input
              {...control}
              data-autofocus
              value={values.name}
              placeholder={t('adminMcp.tracker')}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('name', event.target.value)}
            />
          )}
        </Field>
        {server === null ? (
          <Field label={t('common.kind')} hint={kind === undefined ? undefined : t(kind.hint)}>
            {(control) => (
              <Select
                {...control}
                value={values.transport}
                options={translated(t, KIND_OPTIONS)}
                onChange={(transport) => form.set('transport', transport as ServerValues['transport'])}
              />
            )}
          </Field>
        ) : (
          <div className="flex flex-col gap-1">
            <span className="text-xs font-medium text-ink-muted">{t('common.kind')}</span>
            <span className="flex h-8 items-center text-sm">{kind?.label}</span>
          </div>
        )}
      </div>
      <ReachFields form={form} />
      <EntriesField
        noun={isProgram ? 'variable' : 'header'}
        server={values.name}
        entries={values.entries}
        secretNames={secretNames}
        error={form.error('entries') ?? form.error(isProgram ? 'env' : 'headers')}
        onChange={(entries) => form.set('entries', entries)}
      />
      <Checkbox
        label={t('adminMcp.enableForNewConversations')}
        checked={values.enabled}
        onChange={(checked) => form.set('enabled', checked)}
      />
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {server === null ? t('adminMcp.addServer') : t('common.save')}
        </Button>
      </div>
    </form>
  );
}

/** How the server is reached: a program in the sandbox, or an address. */
function ReachFields({ form }: { form: Form<ServerValues> }) {
  const t = useTranslations();
  const { values } = form;
  return values.transport === 'stdio' ? (
    <>
      <Field label={t('common.command')} hint={t('adminMcp.aProgramInTheSandbox')} error={form.error('command')}>
        {(control) => (
          <Input
            {...control}
            value={values.command}
            placeholder={t('adminMcp.npx')}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('command', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('adminMcp.arguments')} hint={t('adminMcp.onePerLine')} error={form.error('args')}>
        {(control) => (
          <Textarea
            {...control}
            rows={3}
            value={values.args}
            placeholder={t('adminMcp.yAcmeTrackerMcp')}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('args', event.target.value)}
          />
        )}
      </Field>
    </>
  ) : (
    <Field label={t('common.address')} hint={t('adminMcp.aPublicHttpsUrl')} error={form.error('url')}>
      {(control) => (
        <Input
          {...control}
          value={values.url}
          placeholder={t('adminMcp.httpsTrackerExampleComMcp')}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => form.set('url', event.target.value)}
        />
      )}
    </Field>
  );
}
