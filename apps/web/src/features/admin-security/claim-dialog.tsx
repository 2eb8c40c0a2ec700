'use client';
import { ClaimDomain } from '@slipway/contracts';
import { Button, Dialog, Field, Input } from '@slipway/ui';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

/** Claims a domain; its card then shows the record that proves it. */
export function ClaimDialog({ onClose }: { onClose: () => void }) {
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
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Claim a domain">
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <Field label="Domain" error={form.error('domain')} hint="What stands behind the @ of your people’s addresses.">
          {(control) => (
            <Input
              {...control}
              data-autofocus
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder="example.com"
              value={form.values.domain}
              onChange={(event) => form.set('domain', event.target.value)}
            />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            Claim
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
