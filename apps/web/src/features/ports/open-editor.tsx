'use client';
import { Button } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { CodeXml } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import type { PortAddress } from './port-address.ts';

/**
 * VS Code in a tab of its own, on the files of the sandbox; where the image has none, the reason. It is started by the
 * press.
 */
export function OpenEditor({ closed, openPort }: { closed: boolean; openPort: (address: PortAddress) => void }) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const editor = useMutation({
    mutationFn: () => api.openEditor({ org: orgId, conversation: conversation.id }),
    // Not kept: the path holds the editor's token.
    gcTime: 0,
    networkMode: 'always',
    onSuccess: ({ path, port }) => {
      if (path !== null) openPort({ port, path });
    },
  });
  return (
    <section aria-label={t('ports.editor')} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Button onClick={() => editor.mutate()} busy={editor.isPending} disabled={closed}>
          {editor.isPending ? null : <CodeXml aria-hidden />} {t('ports.openInVsCode')}
        </Button>
        <p role="status" className="min-w-0 flex-1 text-xs text-ink-muted">
          {editor.isPending
            ? t('ports.vsCodeIsStartingIn')
            : editor.data && editor.data.path === null
              ? (editor.data.reason ?? t('ports.thisSandboxHasNoVs'))
              : t('ports.opensTheSandboxsFilesIn')}
        </p>
      </div>
      {editor.isError ? <Failed error={editor.error} /> : null}
    </section>
  );
}
