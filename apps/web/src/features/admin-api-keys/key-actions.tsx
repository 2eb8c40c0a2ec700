'use client';
import type { ApiKey, CreatedApiKey } from '@slipway/contracts/identity';
import { Button, ConfirmDialog, Dialog, Field, IconButton, Menu, MenuItem, Select } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { MadeKey } from './create-key.tsx';

const OVERLAPS: readonly Option[] = [
  { value: '0', label: 'adminApiKeys.notAtAll' },
  { value: '3600', label: 'adminApiKeys.forAnHour' },
  { value: '86400', label: 'adminApiKeys.forADay' },
  { value: '604800', label: 'adminApiKeys.forAWeek' },
];

/** What is being done with a key. */
export interface KeyTask {
  readonly what: 'rotate' | 'revoke';
  readonly key: ApiKey;
}

/** What can be done with a key that still works, or whose descendants do. */
export function KeyMenu({ apiKey, onTask }: { apiKey: ApiKey; onTask: (task: KeyTask) => void }) {
  const t = useTranslations();
  const hasEnded = apiKey.state === 'expired' || apiKey.state === 'revoked';
  if (hasEnded && apiKey.descendants === 0) return null;
  return (
    <Menu
      trigger={
        <IconButton label={t('common.actionsOf', { name: apiKey.name })}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {hasEnded ? null : (
        <MenuItem onSelect={() => onTask({ what: 'rotate', key: apiKey })}>{t('adminApiKeys.rotate')}</MenuItem>
      )}
      <MenuItem className="text-bad" onSelect={() => onTask({ what: 'revoke', key: apiKey })}>
        {hasEnded ? t('adminApiKeys.revokeKeysCreatedWithIt') : t('adminApiKeys.revoke')}
      </MenuItem>
    </Menu>
  );
}

/**
 * The dialog of a task. It belongs to the page and not to the row: the row of a key that was rotated may be gone before
 * its new token has been copied.
 */
export function KeyTaskDialog({
  task,
  onClose,
  onChanged,
}: {
  task: KeyTask;
  onClose: () => void;
  onChanged: () => void;
}) {
  const t = useTranslations();
  if (task.what === 'revoke') return <RevokeDialog apiKey={task.key} onClose={onClose} onDone={onChanged} />;
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={t('adminApiKeys.rotate2', { name: task.key.name })}>
      <Rotate apiKey={task.key} onClose={onClose} onDone={onChanged} />
    </Dialog>
  );
}

function RevokeDialog({ apiKey, onClose, onDone }: { apiKey: ApiKey; onClose: () => void; onDone: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const { name, descendants } = apiKey;
  const hasEnded = apiKey.state === 'expired' || apiKey.state === 'revoked';
  const revoke = useMutation({
    mutationFn: () => api.revokeApiKey({ org: org.id, key: apiKey.id }),
    onSuccess: () => {
      toast(hasEnded ? t('adminApiKeys.theKeysCreatedWithAre', { name }) : t('adminApiKeys.isRevoked', { name }));
      onClose();
      onDone();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(next) => next || onClose()}
      title={hasEnded ? t('adminApiKeys.revokeTheKeysCreatedWith', { name }) : t('adminApiKeys.revoke2', { name })}
      confirmLabel={t('adminApiKeys.revoke3')}
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
    >
      <p>
        {hasEnded
          ? t('adminApiKeys.revokeMadeWithEffect', { descendants })
          : t('adminApiKeys.revokeEffect', { descendants })}{' '}
        {t('adminApiKeys.thisCannotBeUndone')}
      </p>
      <ErrorNotice error={revoke.error} />
    </ConfirmDialog>
  );
}

function Rotate({ apiKey, onClose, onDone }: { apiKey: ApiKey; onClose: () => void; onDone: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [overlap, setOverlap] = useState('86400');
  const [made, setMade] = useState<CreatedApiKey | null>(null);
  const rotate = useMutation({
    mutationFn: () => api.rotateApiKey({ org: org.id, key: apiKey.id, body: { overlapSeconds: Number(overlap) } }),
    onSuccess: (key) => {
      setMade(key);
      onDone();
    },
  });
  if (made !== null)
    return (
      <MadeKey
        made={made}
        onClose={onClose}
        note={overlap === '0' ? t('adminApiKeys.theOldTokenNoLonger') : t('adminApiKeys.theOldTokenKeepsWorking')}
      />
    );
  return (
    <div className="flex flex-col gap-4 p-4">
      <p className="text-sm">{t('adminApiKeys.createsANewKeyWith')}</p>
      <Field label={t('adminApiKeys.keepTheOldTokenWorking')}>
        {(control) => <Select {...control} value={overlap} options={translated(t, OVERLAPS)} onChange={setOverlap} />}
      </Field>
      <ErrorNotice error={rotate.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button tone="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
          {t('adminApiKeys.rotate3')}
        </Button>
      </div>
    </div>
  );
}
