'use client';
import type { Prompt } from '@slipway/contracts/conversations';
import { Badge, type Column, ConfirmDialog, IconButton, Menu, MenuItem, Table } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { asAgo } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { PromptDialog } from './prompt-form.tsx';

export function PromptsTable({ prompts, onChanged }: { prompts: readonly Prompt[]; onChanged: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const mayChange = ({ scope }: Prompt) =>
    org.permissions.includes('prompt:write') && (scope === 'user' || org.permissions.includes('prompt:manage'));
  const columns: Column<Prompt>[] = [
    {
      label: t('common.name'),
      phone: 'title',
      cell: ({ name, description, text }) => (
        <span className="block min-w-0 max-w-2xl">
          <code className="block font-mono text-sm break-all">/{name}</code>
          {description ? (
            <span dir="auto" className="block text-sm break-words">
              {description}
            </span>
          ) : null}
          <span dir="auto" className="line-clamp-2 text-xs break-words text-ink-muted">
            {text}
          </span>
        </span>
      ),
    },
    {
      label: t('prompts.scope'),
      cell: ({ scope }) => <Badge>{t(scope === 'org' ? 'prompts.organization' : 'prompts.yours')}</Badge>,
    },
    {
      label: t('common.changed'),
      cell: ({ updatedAt, updatedBy }) => (
        <span>{t.rich('prompts.by', { updatedAt, ago: asAgo, label: updatedBy.label })}</span>
      ),
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (prompt) => (mayChange(prompt) ? <PromptActions prompt={prompt} onChanged={onChanged} /> : null),
    },
  ];
  return <Table label={t('common.prompts')} columns={columns} rows={prompts} rowKey={({ id }) => id} />;
}

function PromptActions({ prompt, onChanged }: { prompt: Prompt; onChanged: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null);
  const close = () => setDoing(null);
  const remove = useMutation({
    mutationFn: () => api.deletePrompt({ org: org.id, prompt: prompt.id }),
    onSuccess: () => {
      toast(t('prompts.deleted', { name: prompt.name }));
      close();
      onChanged();
    },
  });
  return (
    <>
      <Menu
        trigger={
          <IconButton label={t('common.actionsOf', { name: `/${prompt.name}` })}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('edit')}>{t('common.edit')}</MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          {t('common.delete')}
        </MenuItem>
      </Menu>
      <PromptDialog
        prompt={prompt}
        open={doing === 'edit'}
        onClose={close}
        onDone={({ name }) => {
          toast(t('prompts.changed', { name }));
          close();
          onChanged();
        }}
      />
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || close()}
        title={t('prompts.deleteTitle', { name: prompt.name })}
        confirmLabel={t('common.delete2')}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>{t(prompt.scope === 'org' ? 'prompts.deleteShared' : 'prompts.deleteOwn')}</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </>
  );
}
