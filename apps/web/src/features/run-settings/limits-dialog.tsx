'use client';
import { UpdateRunSettings } from '@slipway/contracts/conversations';
import { Button, Dialog, Field, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { money } from '../../browser/format.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSpent } from '../conversation/use-spent.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { formOfRunSettings, runSettingsOfForm } from './limit.ts';

/** How far this conversation's agent goes before it pauses and asks. */
export function LimitsDialog({ onClose }: { onClose: () => void }) {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const settings = useView((view) => view.runSettings);
  const { costUsd: spent } = useSpent();
  const form = useForm({
    initial: formOfRunSettings(settings),
    schema: UpdateRunSettings,
    requestOf: runSettingsOfForm,
    send: (body) => api.updateRunSettings({ org: orgId, conversation: conversation.id, body }),
    onDone: onClose,
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('terms.limitsOfThisConversation')}
      description={t('terms.atALimitTheAgent')}
    >
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <Field
          label={t('terms.maxStepsPerMessage')}
          hint={t('terms.leaveEmptyForTheOrganizations')}
          error={form.error('maxIterations')}
        >
          {(control) => (
            <Input
              {...control}
              data-autofocus
              inputMode="numeric"
              placeholder={t('terms.noLimit')}
              value={form.values.maxIterations}
              onChange={(event) => form.set('maxIterations', event.target.value)}
            />
          )}
        </Field>
        <Field
          label={t('terms.budgetUsd2')}
          hint={t('terms.soFarLeaveEmptyTo', { spent: money(spent) })}
          error={form.error('maxBudgetUsd')}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              placeholder={t('terms.noLimit')}
              value={form.values.maxBudgetUsd}
              onChange={(event) => form.set('maxBudgetUsd', event.target.value)}
            />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            {t('common.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
