'use client';
import { type ComponentProps, type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { cn } from './class-names.js';
import { Input } from './field.js';

export interface ComboboxOption {
  readonly key: string;
  /** What is shown; `text` is what the field then has. */
  readonly text: string;
  readonly label: ReactNode;
}

/**
 * A text field with suggestions. What is typed always stands: a suggestion is an offer. The caller finds the options
 * for what is typed and says when there are more. Opens by typing, a click or the down arrow; Enter takes the marked
 * option, Escape closes without leaving the field.
 */
export function Combobox({
  value,
  onChange,
  onChoose,
  options,
  listLabel,
  note = null,
  busy = false,
  more = null,
  onOpenChange,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'role'> & {
  value: string;
  onChange: (text: string) => void;
  onChoose: (option: ComboboxOption) => void;
  options: readonly ComboboxOption[];
  /** What the suggestions are: their list's name. */
  listLabel: string;
  /** Below the options, or in their place: that none match, or what failed. */
  note?: ReactNode;
  busy?: boolean;
  /** Reads further options; `null` when these are all. */
  more?: (() => void) | null;
  onOpenChange?: (open: boolean) => void;
}) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const open = (next: boolean): void => {
    if (next === isOpen) return;
    setOpen(next);
    setAt(-1);
    onOpenChange?.(next);
  };
  const shown = isOpen && (options.length > 0 || note !== null);
  const marked = shown && at >= 0 && at < options.length ? at : -1;
  const choose = (option: ComboboxOption): void => {
    onChoose(option);
    open(false);
  };
  const move = (step: number): void => {
    const next = Math.max(0, Math.min(options.length - 1, marked + step));
    setAt(next);
    if (next >= options.length - 2) more?.();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    const option = options[marked];
    if (event.key === 'ArrowDown') {
      if (isOpen) move(1);
      else open(true);
    } else if (event.key === 'ArrowUp' && shown) move(-1);
    else if (event.key === 'Enter' && option !== undefined && !event.metaKey && !event.ctrlKey) choose(option);
    else if (event.key === 'Escape' && shown) open(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span className={cn('relative block min-w-0', className)}>
      <Input
        {...rest}
        role="combobox"
        aria-expanded={shown}
        aria-autocomplete="list"
        aria-controls={shown ? `${id}-list` : undefined}
        aria-activedescendant={marked >= 0 ? `${id}-${marked}` : undefined}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
          setAt(-1);
          open(true);
        }}
        onClick={() => open(true)}
        onBlur={() => open(false)}
        onKeyDown={onKeyDown}
      />
      {shown ? (
        <Suggestions
          id={id}
          options={options}
          marked={marked}
          label={listLabel}
          note={note}
          busy={busy}
          more={more}
          choose={choose}
        />
      ) : null}
      <span role="status" className="sr-only">
        {shown && !busy ? `${options.length} ${options.length === 1 ? 'suggestion' : 'suggestions'}` : ''}
      </span>
    </span>
  );
}

function Suggestions({
  id,
  options,
  marked,
  label,
  note,
  busy,
  more,
  choose,
}: {
  id: string;
  options: readonly ComboboxOption[];
  /** Index of the option that Enter takes; -1: none. */
  marked: number;
  label: string;
  note: ReactNode;
  busy: boolean;
  more: (() => void) | null;
  choose: (option: ComboboxOption) => void;
}) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field keeps the focus while something in its list is pressed
    <div
      className="absolute inset-x-0 top-full z-30 mt-1 overflow-hidden rounded-lg border border-line bg-surface shadow-float"
      onMouseDown={(event) => event.preventDefault()}
    >
      <div
        role="listbox"
        id={`${id}-list`}
        aria-label={label}
        aria-busy={busy || undefined}
        tabIndex={-1}
        className="max-h-64 overflow-auto p-1 empty:hidden"
        onScroll={({ currentTarget: list }) => {
          if (list.scrollHeight - list.scrollTop - list.clientHeight < 80) more?.();
        }}
      >
        {options.map((option, index) => (
          <Option key={option.key} id={`${id}-${index}`} marked={index === marked} choose={() => choose(option)}>
            {option.label}
          </Option>
        ))}
      </div>
      {note === null ? null : <div className="px-3 py-2 text-sm text-ink-muted">{note}</div>}
    </div>
  );
}

function Option({
  id,
  marked,
  choose,
  children,
}: {
  id: string;
  marked: boolean;
  choose: () => void;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the field's
    <div
      role="option"
      id={id}
      tabIndex={-1}
      aria-selected={marked}
      onClick={choose}
      ref={(line) => {
        if (marked) line?.scrollIntoView({ block: 'nearest' });
      }}
      className={cn(
        'flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm hover:bg-raised touch:min-h-11',
        marked && 'bg-raised',
      )}
    >
      {children}
    </div>
  );
}
