#ifndef PORT_WINDOWS_H
#define PORT_WINDOWS_H

/* Gives the game its window port. */
void windows_power_on(void);

#endif
