import type { SetupKind } from './setup-steps.ts';

/** What to do at the provider, numbered. */
export function Steps({ label, setup }: { label: string; setup: SetupKind }) {
  return (
    <ol aria-label={label} className="ml-5 list-decimal text-sm marker:text-ink-muted">
      {setup.steps.map((step) => (
        <li key={step} className="py-0.5 pl-1">
          {step}
        </li>
      ))}
    </ol>
  );
}
