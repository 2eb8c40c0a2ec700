'use client';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { KeptSecrets } from './kept-secrets.ts';

/** As long as the dialog is open; for every conversation of the organization. */
export function useKeptSecrets(): KeptSecrets {
  const t = useTranslations();
  const { org } = useSession();
  const [kept] = useState(
    () =>
      new KeptSecrets({
        create: async ({ name, value, server }) =>
          (
            await api.createSecret({
              org: org.id,
              body: {
                name,
                value,
                kind: 'variable',
                scope: 'org',
                description: t('adminMcp.forTheMcpServer', { server }).slice(0, 500),
              },
            })
          ).id,
        change: (secret, value) => api.updateSecret({ org: org.id, secret, body: { value } }),
      }),
  );
  return kept;
}
