'use client';
import { ClaimDomain } from '@slipway/contracts/organizations';
import { Button, Dialog, Field, Input } from '@slipway/ui';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

/** Claims a domain; its card then shows the record that proves it. */
export function ClaimDialog({ onClose }: { onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const form = useForm({
    initial: { domain: '' },
    schema: ClaimDomain,
    requestOf: (values) => values,
    send: (body) => api.claimDomain({ org: org.id, body }),
    onDone: async () => {
      await queries.invalidateQueries({ queryKey: ['domains', org.id] });
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t('adminSecurity.claimADomain')}>
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <Field
          label={t('adminSecurity.domain')}
          error={form.error('domain')}
          hint={t('adminSecurity.thePartAfterInYour')}
        >
          {(control) => (
            <Input
              {...control}
              data-autofocus
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder={t('adminSecurity.exampleCom')}
              value={form.values.domain}
              onChange={(event) => form.set('domain', event.target.value)}
            />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            {t('adminSecurity.claim')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
