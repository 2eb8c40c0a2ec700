'use client';
import type { McpServer } from '@slipway/contracts/secrets';
import { Badge, Button, Dialog, Field, Notice, Textarea } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useSession } from '../session/me.ts';
import { type PastedServer, readPasted } from './pasted-servers.ts';
import { KINDS } from './server-words.ts';
import { useKeptSecrets } from './use-kept-secrets.ts';
import { useSecretNames } from './use-secret-names.ts';

const EXAMPLE = `{
  "mcpServers": {
    "tracker": {
      "type": "http",
      "url": "https://tracker.example.com/mcp",
      "headers": { "Authorization": "Bearer …" }
    }
  }
}`;

/**
 * Takes over the servers of a file as other agents have it, and says of each what comes of it before anything is kept.
 */
export function PasteDialog({
  servers,
  onClose,
  onAdded,
}: {
  servers: readonly McpServer[];
  onClose: () => void;
  onAdded: (count: number) => void;
}) {
  const t = useTranslations();
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminMcp.pasteMcpServers')}
      description={t('adminMcp.fromTheConfigurationOfClaude')}
      className="w-[min(600px,calc(100vw-32px))]"
    >
      <Paste servers={servers} onClose={onClose} onAdded={onAdded} />
    </Dialog>
  );
}

function Paste({
  servers,
  onClose,
  onAdded,
}: {
  servers: readonly McpServer[];
  onClose: () => void;
  onAdded: (count: number) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const secretNames = useSecretNames();
  const [text, setText] = useState('');
  /** What came of each that was sent: `null` for added, else why not. */
  const [sent, setSent] = useState<ReadonlyMap<string, string | null>>(new Map());
  const kept = useKeptSecrets();
  // As it was when this was opened: what is added meanwhile is no reason against itself.
  const [names] = useState(() => new Set(servers.map(({ name }) => name)));
  const pasted = useMemo(
    () =>
      text.trim() === ''
        ? null
        : readPasted(t, text, { servers: names, secrets: new Set(secretNames.filter((name) => !kept.has(name))) }),
    [text, names, secretNames, kept, t],
  );
  const found = pasted !== null && 'servers' in pasted ? pasted.servers : [];
  const open = found.filter(({ name, server }) => server !== null && sent.get(name) !== null);
  const mayKeep = org.permissions.includes('secret:write');
  const needsSecrets = open.some(({ secrets }) => secrets.length > 0);
  const add = useMutation({
    mutationFn: async () => {
      const outcomes = new Map(sent);
      for (const { name, server, secrets } of open) {
        if (server === null) continue;
        try {
          await kept.keep(secrets, name);
          await api.createMcpServer({ org: org.id, body: server });
          outcomes.set(name, null);
        } catch (error) {
          const { title, detail } = failureOf(error);
          outcomes.set(name, `${title}. ${detail}`.trim());
        }
        setSent(new Map(outcomes));
      }
      return outcomes;
    },
    onSuccess: (outcomes) => {
      const added = [...outcomes.values()].filter((failure) => failure === null).length;
      if (found.every(({ name }) => outcomes.get(name) === null)) onAdded(added);
    },
  });
  const added = [...sent.values()].filter((failure) => failure === null).length;
  const close = () => (added > 0 ? onAdded(added) : onClose());
  return (
    <form
      className="flex flex-col gap-4 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!add.isPending && open.length > 0) add.mutate();
      }}
    >
      <ConfigurationField
        text={text}
        error={pasted !== null && 'fault' in pasted ? pasted.fault : null}
        // What was added is added, whatever is typed now.
        readOnly={add.isPending || added > 0}
        onChange={setText}
      />
      {found.length === 0 ? null : (
        <ul aria-label={t('adminMcp.preview')} className="divide-y divide-line rounded-md border border-line">
          {found.map((each) => (
            <PastedRow key={each.name} pasted={each} outcome={sent.get(each.name)} />
          ))}
        </ul>
      )}
      {needsSecrets && !mayKeep ? (
        <Notice tone="warn" title={t('adminMcp.theFileContainsSecrets')}>
          <p>{t('adminMcp.youNeedThePermissionSecret')}</p>
        </Notice>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>{added > 0 ? t('common.close') : t('common.cancel')}</Button>
        <Button
          type="submit"
          tone="primary"
          busy={add.isPending}
          disabled={open.length === 0 || (needsSecrets && !mayKeep)}
        >
          {t('adminMcp.addServers', { count: open.length })}
        </Button>
      </div>
    </form>
  );
}

function ConfigurationField({
  text,
  error,
  readOnly,
  onChange,
}: {
  text: string;
  error: string | null;
  readOnly: boolean;
  onChange: (text: string) => void;
}) {
  const t = useTranslations();
  return (
    <Field label={t('adminMcp.theFileOrThePart')} error={error}>
      {(control) => (
        <Textarea
          {...control}
          data-autofocus
          rows={8}
          value={text}
          placeholder={EXAMPLE}
          autoComplete="off"
          spellCheck={false}
          readOnly={readOnly}
          className="font-mono text-xs"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function PastedRow({
  pasted: { name, server, secrets, problems, left, open },
  outcome,
}: {
  pasted: PastedServer;
  outcome: string | null | undefined;
}) {
  const t = useTranslations();
  const notes = [
    ...(secrets.length === 0
      ? []
      : [t('adminMcp.keptAs', { count: secrets.length, secrets: secrets.map((secret) => secret.name).join(', ') })]),
    ...(open ? [t('adminMcp.theUrlOrArgumentsSeem')] : []),
    ...(left.length === 0 ? [] : [t('adminMcp.notImported', { left: left.join(', ') })]),
  ];
  return (
    <li className="flex flex-col gap-1 px-3 py-2 text-sm">
      <span className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 font-medium break-words">{name}</span>
        {server === null ? (
          <Badge tone="bad">{t('adminMcp.cannotBeAdded')}</Badge>
        ) : (
          <Badge>{t(KINDS[server.transport])}</Badge>
        )}
        {outcome === null ? <Badge tone="ok">{t('adminMcp.added')}</Badge> : null}
      </span>
      {[...problems, ...(outcome === null || outcome === undefined ? [] : [outcome])].map((problem) => (
        <span key={problem} className="break-words text-bad">
          {problem}
        </span>
      ))}
      {server === null || notes.length === 0 ? null : (
        <span className="break-words text-ink-muted">{notes.join(' ')}</span>
      )}
    </li>
  );
}
