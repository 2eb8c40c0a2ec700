import { cva, type VariantProps } from 'class-variance-authority';
import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleStop,
  Loader,
  MessageCircleQuestion,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from './class-names.js';

const badge = cva(
  'inline-flex h-[22px] shrink-0 items-center gap-1 rounded-full border px-2 text-xs font-medium whitespace-nowrap [&_svg]:size-3.5',
  {
    variants: {
      tone: {
        neutral: 'border-line-strong bg-raised text-ink-muted',
        accent: 'border-transparent bg-accent-soft text-accent',
        ok: 'border-transparent bg-ok-soft text-ok',
        warn: 'border-transparent bg-warn-soft text-warn',
        bad: 'border-transparent bg-bad-soft text-bad',
      },
    },
    defaultVariants: { tone: 'neutral' },
  },
);

export function Badge({
  tone,
  className,
  children,
}: VariantProps<typeof badge> & { className?: string; children: ReactNode }) {
  return <span className={cn(badge({ tone }), className)}>{children}</span>;
}

const shapes = {
  starting: { icon: CircleDashed, tone: 'accent', turn: true },
  working: { icon: Loader, tone: 'accent', turn: true },
  waiting: { icon: MessageCircleQuestion, tone: 'warn', turn: false },
  paused: { icon: CirclePause, tone: 'neutral', turn: false },
  finished: { icon: CircleCheck, tone: 'ok', turn: false },
  failed: { icon: CircleAlert, tone: 'bad', turn: false },
  stopped: { icon: CircleStop, tone: 'neutral', turn: false },
} as const;

/** A state by shape, colour and word together, so that none of them is needed alone. */
export function StatusChip({
  state,
  label,
  className,
}: {
  state: keyof typeof shapes;
  label: string;
  className?: string;
}) {
  const { icon: Icon, tone, turn } = shapes[state];
  return (
    <Badge tone={tone} className={className}>
      <Icon aria-hidden className={turn ? 'motion-safe:animate-[spin_2.4s_linear_infinite]' : undefined} />
      {label}
    </Badge>
  );
}
