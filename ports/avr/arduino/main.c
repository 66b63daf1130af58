/* What the Arduino core's main does for a sketch. */
void setup(void);
void loop(void);

int main(void)
{
    setup();
    for (;;)
        loop();
}
