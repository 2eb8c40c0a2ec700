'use client';
import { Button } from '@slipway/ui';
import { toast } from 'sonner';
import { signOut } from './sign-out.ts';

/** Said when the server could not be told. */
export const STILL_SIGNED_IN = 'You are still signed in: the server did not answer. Try again.';

export function SignOutButton({ label = 'Sign out', className }: { label?: string; className?: string }) {
  return (
    <Button tone="quiet" className={className} onClick={() => void signOut().catch(() => toast.error(STILL_SIGNED_IN))}>
      {label}
    </Button>
  );
}
