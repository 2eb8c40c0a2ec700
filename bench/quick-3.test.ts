import { testQuickForms } from './measure/quick-forms.ts';

testQuickForms(3, 4);
