'use client';
import type { McpServer } from '@slipway/contracts/secrets';
import { Button, ConfirmDialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api, patientApi } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { ServerDialog } from './server-form.tsx';
import { TestDialog } from './test-dialog.tsx';

export function ServerActions({ server, onChanged }: { server: McpServer; onChanged: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [doing, setDoing] = useState<'edit' | 'delete' | 'test' | null>(null);
  const close = () => setDoing(null);
  const done = (said: string) => {
    toast(said);
    close();
    onChanged();
  };
  const where = { org: org.id, server: server.id };
  const test = useMutation({ mutationFn: () => patientApi.testMcpServer(where) });
  const remove = useMutation({
    mutationFn: () => api.deleteMcpServer(where),
    onSuccess: () => done(t('common.isDeleted', { name: server.name })),
  });
  const turn = useMutation({
    mutationFn: () => api.updateMcpServer({ ...where, body: { enabled: !server.enabled } }),
    onSuccess: () =>
      done(
        server.enabled
          ? t('adminMcp.isDisabledForNewConversations', { name: server.name })
          : t('adminMcp.isEnabledForNewConversations', { name: server.name }),
      ),
    onError: (error) => toast(failureOf(error).title),
  });
  return (
    <span className="flex items-center justify-end gap-1">
      <Button
        aria-label={t('adminMcp.test', { name: server.name })}
        onClick={() => {
          setDoing('test');
          if (!test.isPending) test.mutate();
        }}
      >
        {t('adminMcp.test2')}
      </Button>
      <Menu
        trigger={
          <IconButton label={t('common.actionsOf', { name: server.name })}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('edit')}>{t('adminMcp.edit')}</MenuItem>
        <MenuItem onSelect={() => turn.mutate()}>
          {server.enabled ? t('adminMcp.disable') : t('adminMcp.enable')}
        </MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          {t('common.delete')}
        </MenuItem>
      </Menu>
      {doing === 'test' ? <TestDialog server={server} test={test} onClose={close} /> : null}
      {doing === 'edit' ? (
        <ServerDialog
          server={server}
          onClose={close}
          onDone={({ name }) => done(t('adminMcp.updatedNewConversationsUseIt', { name }))}
        />
      ) : null}
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || close()}
        title={t('common.delete3', { name: server.name })}
        confirmLabel={t('common.delete2')}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>{t('adminMcp.newConversationsNoLongerHave')}</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </span>
  );
}
