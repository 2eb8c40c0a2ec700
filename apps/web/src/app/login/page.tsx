import { Suspense } from 'react';
import { SignIn } from '../../features/session/sign-in.tsx';
import { titled } from '../../messages/titled.ts';

export const generateMetadata = titled('app.signIn');

export default function LoginPage() {
  return (
    <Suspense>
      <SignIn />
    </Suspense>
  );
}
