'use client';
import type { IntegrationProvider, ThreadProcessors } from '@slipway/contracts';
import { Button, Checkbox, Input } from '@slipway/ui';
import type { PlaceValues } from './connection-values.ts';

type Processor = keyof ThreadProcessors;

const PLACES = {
  channel: { name: 'Channel', many: 'channels', hint: 'its ID, from the bottom of its details in Slack.', example: 'C0123ABCD' },
  project: { name: 'Project', many: 'projects', hint: 'its key, with which its tickets begin.', example: 'SHOP' },
  team: { name: 'Team', many: 'teams', hint: 'its key, with which its issues begin.', example: 'ENG' },
} as const;

const PROCESSORS: Readonly<Record<Processor, { readonly label: string; readonly hint: string }>> = {
  reaction: { label: 'React to requests', hint: 'Eyes on what asked.' },
  comment: { label: 'Show progress', hint: 'One comment or message, edited until the run ends. Agent sessions are always answered.' },
  link: { label: 'Link conversation and pull requests', hint: 'As links of the ticket.' },
  start: { label: 'Move tickets when work begins', hint: 'To the first state of work. What is further already stays.' },
  done: { label: 'Move tickets when their pull request is merged', hint: 'To the first state that is done.' },
};

/** Repositories of single places. */
export function PlaceRepositories({
  kind,
  values,
  error,
  onChange,
}: {
  kind: NonNullable<IntegrationProvider['places']>;
  values: readonly PlaceValues[];
  error: string | null;
  onChange: (values: readonly PlaceValues[]) => void;
}) {
  const { name, many, hint, example } = PLACES[kind];
  const text = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;
  const change = (key: number, part: Partial<PlaceValues>) => onChange(values.map((each) => (each.key === key ? { ...each, ...part } : each)));
  const add = () => onChange([...values, { key: Math.max(-1, ...values.map((each) => each.key)) + 1, place: '', repository: '' }]);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-sm font-medium">Repositories of {many}</legend>
      <p className="text-sm text-ink-muted">
        Used before the default repository. {name}: {hint}
      </p>
      {values.map((each, index) => (
        <div key={each.key} className="grid grid-cols-1 gap-2 sm:grid-cols-[10rem_minmax(0,1fr)_auto]">
          <Input
            {...text}
            aria-label={`${name} ${index + 1}`}
            placeholder={example}
            value={each.place}
            onChange={(event) => change(each.key, { place: event.target.value })}
          />
          <Input
            {...text}
            inputMode="url"
            aria-label={`Repository ${index + 1}`}
            placeholder="https://git.example.com/owner/name"
            value={each.repository}
            onChange={(event) => change(each.key, { repository: event.target.value })}
          />
          <Button aria-label={`Remove ${name.toLowerCase()} ${index + 1}`} onClick={() => onChange(values.filter((other) => other.key !== each.key))}>
            Remove
          </Button>
        </div>
      ))}
      {error === null ? null : (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
      <Button className="self-start" onClick={add}>
        Add a {name.toLowerCase()}
      </Button>
    </fieldset>
  );
}

/** What Slipway does in threads and with their tickets. */
export function ProcessorChoices({
  offered,
  values,
  onChange,
}: {
  offered: IntegrationProvider['processors'];
  values: ThreadProcessors;
  onChange: (values: ThreadProcessors) => void;
}) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-sm font-medium">In threads</legend>
      {offered.map((each) => (
        <Checkbox
          key={each}
          {...PROCESSORS[each]}
          checked={each === 'done' ? values.done === 'merged' : values[each]}
          onChange={(on) => onChange(each === 'done' ? { ...values, done: on ? 'merged' : 'never' } : { ...values, [each]: on })}
        />
      ))}
    </fieldset>
  );
}
