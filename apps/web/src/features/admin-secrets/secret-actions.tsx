'use client';
import { type Secret, UpdateSecret } from '@slipway/contracts/secrets';
import { Button, ConfirmDialog, Dialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { ValueField, type Whose } from './secret-form.tsx';

export function SecretActions({ secret, whose, onChanged }: { secret: Secret; whose: Whose; onChanged: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [doing, setDoing] = useState<'replace' | 'delete' | null>(null);
  const close = () => setDoing(null);
  const remove = useMutation({
    mutationFn: () =>
      whose === 'org'
        ? api.deleteSecret({ org: org.id, secret: secret.id })
        : api.deleteMySecret({ org: org.id, secret: secret.id }),
    onSuccess: () => {
      toast(t('common.isDeleted', { name: secret.name }));
      close();
      onChanged();
    },
  });
  return (
    <>
      <Menu
        trigger={
          <IconButton label={t('common.actionsOf', { name: secret.name })}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('replace')}>{t('adminSecrets.replaceValue')}</MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          {t('common.delete')}
        </MenuItem>
      </Menu>
      <Dialog
        open={doing === 'replace'}
        onOpenChange={(open) => open || close()}
        title={t('adminSecrets.replace', { name: secret.name })}
      >
        <Replace
          secret={secret}
          whose={whose}
          onClose={close}
          onDone={() => {
            toast(t('adminSecrets.hasANewValueConversations', { name: secret.name }));
            close();
            onChanged();
          }}
        />
      </Dialog>
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || close()}
        title={t('common.delete3', { name: secret.name })}
        confirmLabel={t('common.delete2')}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>{t('adminSecrets.newConversationsNoLongerGet')}</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </>
  );
}

function Replace({
  secret,
  whose,
  onClose,
  onDone,
}: {
  secret: Secret;
  whose: Whose;
  onClose: () => void;
  onDone: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: { value: '' },
    schema: UpdateSecret,
    requestOf: (values) => values,
    send: (body) =>
      whose === 'org'
        ? api.updateSecret({ org: org.id, secret: secret.id, body })
        : api.updateMySecret({ org: org.id, secret: secret.id, body }),
    onDone,
  });
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <ValueField
        value={form.values.value}
        error={form.error('value')}
        onChange={(value) => form.set('value', value)}
      />
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminSecrets.replace2')}
        </Button>
      </div>
    </form>
  );
}
