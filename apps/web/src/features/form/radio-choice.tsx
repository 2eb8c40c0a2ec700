'use client';
import { useId } from 'react';

/** One of a few answers to a question, with what it means below it. */
export function RadioChoice({
  name,
  label,
  means,
  checked,
  onChoose,
}: {
  /** The same of all answers to one question. */
  name: string;
  label: string;
  means: string;
  checked: boolean;
  onChoose: () => void;
}) {
  const id = useId();
  return (
    <div className="flex min-w-0 items-start gap-2">
      <input
        id={id}
        type="radio"
        name={name}
        aria-describedby={`${id}-note`}
        checked={checked}
        onChange={onChoose}
        className="mt-[3px] size-4 shrink-0 accent-accent disabled:opacity-55 touch:mt-3 touch:size-5"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="block py-px text-sm text-ink touch:py-2.5">
          {label}
        </label>
        <p id={`${id}-note`} className="text-xs text-ink-muted">
          {means}
        </p>
      </div>
    </div>
  );
}
