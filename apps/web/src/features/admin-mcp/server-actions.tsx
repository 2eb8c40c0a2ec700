'use client';
import type { McpServer } from '@slipway/contracts';
import { Button, ConfirmDialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { api, patientApi } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { ServerDialog } from './server-form.tsx';
import { TestDialog } from './test-dialog.tsx';

export function ServerActions({ server, onChanged }: { server: McpServer; onChanged: () => void }) {
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
  const remove = useMutation({ mutationFn: () => api.deleteMcpServer(where), onSuccess: () => done(`${server.name} is deleted.`) });
  const turn = useMutation({
    mutationFn: () => api.updateMcpServer({ ...where, body: { enabled: !server.enabled } }),
    onSuccess: () => done(server.enabled ? `New conversations are without ${server.name}.` : `New conversations use ${server.name}.`),
    onError: (error) => toast(failureOf(error).title),
  });
  return (
    <span className="flex items-center justify-end gap-1">
      <Button
        aria-label={`Test ${server.name}`}
        onClick={() => {
          setDoing('test');
          if (!test.isPending) test.mutate();
        }}
      >
        Test
      </Button>
      <Menu
        trigger={
          <IconButton label={`Actions of ${server.name}`}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('edit')}>Edit…</MenuItem>
        <MenuItem onSelect={() => turn.mutate()}>{server.enabled ? 'Switch off' : 'Switch on'}</MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      {doing === 'test' ? <TestDialog server={server} test={test} onClose={close} /> : null}
      {doing === 'edit' ? (
        <ServerDialog server={server} onClose={close} onDone={({ name }) => done(`${name} is changed, for conversations from now on.`)} />
      ) : null}
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || close()}
        title={`Delete ${server.name}?`}
        confirmLabel="Delete"
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>New conversations are without its tools; those that run keep them until they rest. Its secrets stay where they are kept.</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </span>
  );
}
