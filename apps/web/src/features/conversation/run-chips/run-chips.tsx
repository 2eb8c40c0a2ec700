'use client';
import { Menu, MenuChoices } from '@slipway/ui';
import { ChevronDown, Cpu, Gauge, Hand, type LucideIcon } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type ComponentProps, useState } from 'react';
import { money } from '../../../browser/format.ts';
import { useAskingChoice } from '../../approval/use-asking-choice.ts';
import { LimitsDialog } from '../../run-settings/limits-dialog.tsx';
import { useView } from '../conversation-context.ts';
import { type Choice, useModelChoice } from './use-model-choice.ts';

/** With which model the agent goes on, when it asks, and how far it goes: beside the message that it goes on with. */
export function RunChips() {
  const t = useTranslations();
  return (
    <fieldset className="-mx-1 flex min-w-0 flex-wrap gap-x-1 text-xs text-ink-muted">
      <legend className="sr-only">{t('conversation.howTheAgentGoesOn')}</legend>
      <ModelChip />
      <AskingChip />
      <LimitsChip />
    </fieldset>
  );
}

function ModelChip() {
  const t = useTranslations();
  const choice = useModelChoice();
  if (choice.choices.length < 2) return null;
  return (
    <ChoiceChip icon={Cpu} name={t('conversation.model')} label={t('conversation.modelFromTheNextStep')} {...choice} />
  );
}

function AskingChip() {
  const t = useTranslations();
  const choice = useAskingChoice();
  return <ChoiceChip icon={Hand} name={t('conversation.asks')} label={t('approval.confirmationPolicy')} {...choice} />;
}

/** A chip with the choice that holds; it opens the others. */
function ChoiceChip({
  icon,
  name,
  label,
  value,
  choose,
  choices,
}: Choice & {
  icon: LucideIcon;
  name: string;
  label: string;
}) {
  return (
    <Menu
      align="start"
      side="top"
      trigger={<Chip icon={icon} name={name} value={choices.find((each) => each.value === value)?.label ?? value} />}
    >
      <MenuChoices label={label} value={value} onChange={choose} choices={choices} />
    </Menu>
  );
}

function LimitsChip() {
  const t = useTranslations();
  const { maxIterations, maxBudgetUsd } = useView((view) => view.runSettings);
  const [open, setOpen] = useState(false);
  const limits = [
    maxIterations === null ? '' : t('conversation.steps', { steps: maxIterations }),
    maxBudgetUsd === null ? '' : money(Number(maxBudgetUsd)),
  ].filter((each) => each !== '');
  return (
    <>
      <Chip
        icon={Gauge}
        name={t('conversation.limits')}
        value={limits.length === 0 ? t('conversation.noneOfItsOwn') : limits.join(' · ')}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      />
      {open ? <LimitsDialog onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** What is chosen, by its name for who hears it; its picture says the name to the eye, and a tooltip does. */
function Chip({
  icon: Icon,
  name,
  value,
  ...rest
}: { icon: LucideIcon; name: string; value: string } & Omit<ComponentProps<'button'>, 'children' | 'value'>) {
  return (
    <button
      type="button"
      title={name}
      className="inline-flex h-6 max-w-60 min-w-0 cursor-pointer items-center gap-1 rounded-md px-1 hover:bg-raised hover:text-ink touch:h-9"
      {...rest}
    >
      <Icon aria-hidden className="size-3.5 shrink-0" />
      <span className="sr-only">{name}: </span>
      <span className="truncate">{value}</span>
      <ChevronDown aria-hidden className="size-3 shrink-0" />
    </button>
  );
}
